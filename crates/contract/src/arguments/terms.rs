//! Which repairs apply.

use super::repair::Repair;
use super::repairs::REPAIRS;
use crate::{Mode, UnknownName};

/// How the arguments of a call are judged. A [`Mode`] is enough where the repairs are the default ones.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ArgumentTerms {
    /// What becomes of invalid arguments.
    pub mode: Mode,
    /// The repairs that [`Mode::Repair`] may apply.
    pub repairs: Repairs,
}

impl From<Mode> for ArgumentTerms {
    fn from(mode: Mode) -> Self {
        Self { mode, repairs: Repairs::default() }
    }
}

impl ArgumentTerms {
    /// These terms with other repairs.
    #[must_use]
    pub const fn repairs(mut self, repairs: Repairs) -> Self {
        self.repairs = repairs;
        self
    }
}

/// A set of repairs of arguments.
///
/// ```
/// use toolbond_contract::Repairs;
///
/// let repairs = Repairs::default().also("arguments-misspelt-property")?;
/// assert!(Repairs::default().also("fix-everything").is_err());
/// # Ok::<(), toolbond_contract::UnknownName>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repairs(u16);

/// The repairs that cannot be wrong about what was meant, and the one that leaves out properties that the schema refuses
/// and that are like no declared name.
impl Default for Repairs {
    fn default() -> Self {
        let on = REPAIRS.iter().enumerate().filter(|(_, repair)| repair.is_default);
        Self(on.fold(0, |set, (index, _)| set | 1 << index))
    }
}

impl Repairs {
    /// The ids of the repairs that are off unless asked for.
    pub fn optional() -> impl Iterator<Item = &'static str> {
        REPAIRS.iter().filter(|repair| !repair.is_default).map(|repair| repair.rule.id)
    }

    /// These repairs and the one whose rule is `id`.
    ///
    /// # Errors
    ///
    /// If there is no such repair.
    pub fn also(self, id: &str) -> Result<Self, UnknownName> {
        match REPAIRS.iter().position(|repair| repair.rule.id == id) {
            Some(index) => Ok(Self(self.0 | 1 << index)),
            None => Err(UnknownName {
                expected: Self::optional().collect::<Vec<_>>().join(", "),
                found: id.to_owned(),
            }),
        }
    }

    /// The repairs, in their order.
    pub(crate) fn active(self) -> Vec<&'static Repair> {
        let all = REPAIRS.iter().enumerate();
        all.filter(|(index, _)| self.0 & 1 << index != 0).map(|(_, repair)| repair).collect()
    }
}
