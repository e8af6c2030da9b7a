// Has a server listen where its test wants it, on the loopback only, and tells the test at which port that is.
import fs from "node:fs";
import net from "node:net";

const { PORT_FILE, PORT } = process.env;
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (...given) {
  this.once("listening", () => {
    fs.writeFileSync(`${PORT_FILE}.draft`, String(this.address().port));
    fs.renameSync(`${PORT_FILE}.draft`, PORT_FILE);
  });
  const done = given.filter((one) => typeof one === "function");
  return listen.call(this, { host: "127.0.0.1", port: Number(PORT) }, ...done);
};
