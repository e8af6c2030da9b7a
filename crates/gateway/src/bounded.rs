//! A listener that holds no more connections than it may: whoever comes beyond waits in the kernel's queue.
//!
//! Every process of the machine reaches the port, and the descriptors are those that agents live by.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};

/// How long accepting pauses when the process has no more descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A listener with room for so many.
#[derive(Debug)]
pub(crate) struct Bounded {
    listener: TcpListener,
    room: Arc<Semaphore>,
}

/// A connection and the room that it takes.
#[derive(Debug)]
pub(crate) struct Counted {
    stream: TcpStream,
    _room: OwnedSemaphorePermit,
}

impl Bounded {
    pub(crate) fn new(listener: TcpListener, connections_max: usize) -> Self {
        Self { listener, room: Arc::new(Semaphore::new(connections_max)) }
    }
}

impl axum::serve::Listener for Bounded {
    type Io = Counted;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Counted, SocketAddr) {
        loop {
            let Ok(room) = Arc::clone(&self.room).acquire_owned().await else {
                // Nobody closes the semaphore; if somebody did, nobody else would be let in.
                return std::future::pending().await;
            };
            match self.listener.accept().await {
                Ok((stream, address)) => {
                    // An event that waits for the one before it to be acknowledged comes late; that it does not go out
                    // at once is nothing to refuse a connection for.
                    drop(stream.set_nodelay(true));
                    return (Counted { stream, _room: room }, address);
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use axum::serve::Listener as _;

    use super::*;

    /// Proves MCP-024, BIND-070.
    #[tokio::test]
    async fn connection_beyond_the_bound_waits_for_another_to_end() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut bounded = Bounded::new(listener, 1);
        let _first = TcpStream::connect(address).await.unwrap();
        let (held, _) = bounded.accept().await;
        let second = TcpStream::connect(address).await.unwrap();
        let from = second.local_addr().unwrap();
        let mut accepting = tokio::spawn(async move { bounded.accept().await.1 });
        // It takes whatever runs before it is told that there is room.
        tokio::task::yield_now().await;
        assert!(!accepting.is_finished());
        drop(held);
        assert_eq!((&mut accepting).await.unwrap(), from);
    }
}
