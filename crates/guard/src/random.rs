//! Random numbers for what nobody may guess.

/// 128 random bits; `None` where the system has none.
pub(crate) fn random() -> Option<u128> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(u128::from_ne_bytes(bytes))
}
