//! How much one check may cost.

use toolbond_schema::Instance;

/// The steps that checks of one message may take on the I/O thread: a fraction of a millisecond.
const INLINE_FUEL: u64 = 20_000;

/// The steps of the first try on a worker thread: some milliseconds.
const FIRST_FUEL: u64 = 400_000;

/// The steps of the second try. The third one may take all that the settings allow.
const SECOND_FUEL: u64 = 8 * FIRST_FUEL;

/// How much one check may cost.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// The steps of the validation; `None` is all that the settings allow.
    pub fuel: Option<u64>,
    /// The bytes that parsed values may take.
    pub memory: usize,
    pub is_inline: bool,
}

/// The check needs more than its budget. Nothing was reported or counted.
#[derive(Debug)]
pub struct OutOfBudget;

impl Budget {
    /// For all checks of one message on the I/O thread, together.
    pub fn inline() -> Self {
        Self { fuel: Some(INLINE_FUEL), memory: usize::MAX, is_inline: true }
    }

    /// For the first try on a worker thread.
    pub fn first(memory: usize) -> Self {
        Self { fuel: Some(FIRST_FUEL), memory, is_inline: false }
    }

    /// For the try after this one.
    pub fn next(self) -> Option<Self> {
        let fuel = Some(SECOND_FUEL).filter(|second| self.fuel.is_some_and(|fuel| fuel < *second));
        self.fuel.map(|_| Self { fuel, ..self })
    }

    /// The memory that is left once `text` is parsed to be validated; `None` where that takes more.
    pub fn memory_beside(&self, text: &str) -> Option<usize> {
        // What is checked inline is small.
        let parsed = if self.is_inline { 0 } else { Instance::memory(text) };
        self.memory.checked_sub(parsed)
    }

    /// Takes `steps` off; what is left may be nothing.
    pub fn spend(&mut self, steps: u64) {
        if let Some(fuel) = &mut self.fuel {
            *fuel = fuel.saturating_sub(steps);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Budget;

    #[test]
    fn the_third_try_may_take_all_fuel() {
        let first = Budget::first(0);
        let second = first.next().unwrap();
        assert!(second.fuel > first.fuel);
        let third = second.next().unwrap();
        assert!(third.fuel.is_none() && third.next().is_none());
    }
}
