//! Random numbers with a printed seed, so that a failure can be run again.

/// A small generator (splitmix64). Not for secrets.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Seeded from `EDGEPLANE_TEST_SEED` if it is set, else from entropy; the seed is printed.
    ///
    /// # Panics
    /// If the variable is not a number.
    #[must_use]
    pub fn seeded(test: &str) -> Self {
        let seed = match std::env::var("EDGEPLANE_TEST_SEED") {
            Ok(text) => {
                text.parse().unwrap_or_else(|_| panic!("EDGEPLANE_TEST_SEED `{text}` is not a number"))
            }
            Err(_) => {
                let mut bytes = [0; 8];
                edgeplane_os::Entropy::fill(&edgeplane_os::SystemEntropy, &mut bytes);
                u64::from_le_bytes(bytes)
            }
        };
        // Captured by the test runner and shown when the test fails.
        #[expect(clippy::print_stderr, reason = "a failed test must show how to repeat it")]
        {
            eprintln!("{test}: EDGEPLANE_TEST_SEED={seed}");
        }
        Self(seed)
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not zero.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.draw() % limit.max(1)
    }
}
