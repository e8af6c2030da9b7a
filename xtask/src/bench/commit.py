"""The reference for anything durable: one row a commit into SQLite with synchronous=FULL, from one thread."""
import json, os, sqlite3, sys, time

path, count = sys.argv[1], int(sys.argv[2])
conn = sqlite3.connect(path, isolation_level=None)
conn.execute("PRAGMA journal_mode = WAL")
conn.execute("PRAGMA synchronous = FULL")
conn.execute("CREATE TABLE event (agent INTEGER, seq INTEGER, payload BLOB)")
conn.execute("CREATE UNIQUE INDEX event_of_agent ON event (agent, seq)")
took = []
for seq in range(count):
    payload = os.urandom(256)
    begin = time.monotonic_ns()
    conn.execute("INSERT INTO event VALUES (1, ?, ?)", (seq, payload))
    took.append(time.monotonic_ns() - begin)
print(json.dumps(took))
