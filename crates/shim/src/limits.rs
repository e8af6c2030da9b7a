//! Resource limits as the specification has them, by the kernel's numbers.

use edgeplane_os::limits::{Limit, Resource};
use edgeplane_wire::spec::ResourceLimit;

/// The kernel's resources in the order of their numbers, which on these architectures is one and the same.
const BY_NUMBER: [Resource; 16] = [
    Resource::Cpu,
    Resource::Fsize,
    Resource::Data,
    Resource::Stack,
    Resource::Core,
    Resource::Rss,
    Resource::Nproc,
    Resource::Nofile,
    Resource::Memlock,
    Resource::As,
    Resource::Locks,
    Resource::Sigpending,
    Resource::Msgqueue,
    Resource::Nice,
    Resource::Rtprio,
    Resource::Rttime,
];

/// The limits, or `None` if one is of a resource that there is not.
pub(crate) fn of(limits: &[ResourceLimit]) -> Option<Vec<Limit>> {
    limits.iter().map(one).collect()
}

fn one(limit: &ResourceLimit) -> Option<Limit> {
    let resource = BY_NUMBER.get(usize::try_from(limit.resource).ok()?)?;
    Some(Limit { resource: *resource, soft: bound(limit.soft), hard: bound(limit.hard) })
}

/// The kernel's highest number means no bound.
fn bound(value: u64) -> Option<u64> {
    (value != u64::MAX).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_kernels() {
        for (number, resource) in BY_NUMBER.iter().enumerate() {
            assert_eq!(*resource as usize, number);
        }
        assert!(of(&[ResourceLimit { resource: 16, soft: 0, hard: 0 }]).is_none());
        let limits = of(&[ResourceLimit { resource: 7, soft: 64, hard: u64::MAX }]).unwrap();
        assert_eq!(limits, [Limit { resource: Resource::Nofile, soft: Some(64), hard: None }]);
    }
}
