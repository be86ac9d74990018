//! The shared memory between two runs of one process.

use super::layout::{FMU_WORDS, LOG_WORDS};
use super::phase::Phase;
use super::telemetry_segment::Board;
use super::words::{FmuWord, Global};
use std::sync::atomic::Ordering::Relaxed;

impl Board<'_> {
    /// Forgets a run, for the next one: everything but the log, which FMU threads may be writing to, commands that were
    /// sent, and facts about the process. Precondition: the supervisor calls it, in [`Phase::Between`]; it ends that
    /// phase.
    pub fn next_run(&self) {
        const PROCESS: [Global; 9] = [
            Global::StopRequest,
            Global::PauseRequest,
            Global::Scheduling,
            Global::MemoryLocked,
            Global::MemoryLockedBytes,
            Global::MemoryWantedBytes,
            Global::DmaLatency,
            Global::Panicked,
            Global::Phase,
        ];
        let kept = |word: usize| PROCESS.iter().any(|kept| *kept as usize == word);
        let log = self.layout.log..self.layout.log + LOG_WORDS;
        // Whoever sets values may be writing there.
        let control = self.layout.commands..self.layout.total;
        let commands = |index: usize| {
            let own = index.checked_sub(self.layout.fmus).filter(|_| index < self.layout.tasks);
            own.is_some_and(|own| own % FMU_WORDS == FmuWord::Commands as usize)
        };
        for (index, word) in self.words[..self.layout.total].iter().enumerate() {
            if !log.contains(&index) && !kept(index) && !control.contains(&index) && !commands(index) {
                word.store(0, Relaxed);
            }
        }
        self.log().forget_dropped();
        self.set_phase(Phase::Initialising);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Layout;
    use std::sync::atomic::AtomicU64;
    use vecud_plan::FmuId;

    #[test]
    fn a_run_is_forgotten_and_the_process_is_not() {
        let layout = Layout {
            fmus: Global::Count as usize,
            tasks: Global::Count as usize + FMU_WORDS,
            histograms: Global::Count as usize + FMU_WORDS,
            calls: Global::Count as usize + FMU_WORDS,
            log: Global::Count as usize + FMU_WORDS,
            initial: Global::Count as usize + FMU_WORDS + LOG_WORDS,
            starts: Vec::new(),
            promise: Default::default(),
            rings: 0,
            samples: Vec::new(),
            notes: Vec::new(),
            causes: None,
            call_times: Vec::new(),
            commands: Global::Count as usize + FMU_WORDS + LOG_WORDS + 2,
            control: Vec::new(),
            requests: None,
            stimuli: Vec::new(),
            total: Global::Count as usize + FMU_WORDS + LOG_WORDS + 5,
        };
        let words: Vec<AtomicU64> = (0..layout.total).map(|_| AtomicU64::new(0)).collect();
        let board = Board::new(&words, &layout);
        board.log().push(None, 3, 7, b"", b"late");
        let log: Vec<u64> = words[layout.log..layout.initial].iter().map(|word| word.load(Relaxed)).collect();
        words
            .iter()
            .enumerate()
            .filter(|(i, _)| !(layout.log..layout.initial).contains(i))
            .for_each(|(_, w)| w.store(9, Relaxed));
        board.next_run();
        let global = |word: Global| board.global(word).load(Relaxed);
        assert_eq!((global(Global::StopRequest), global(Global::Scheduling)), (9, 9));
        assert_eq!((global(Global::Complete), global(Global::Start), global(Global::OverrunTask)), (0, 0, 0));
        assert_eq!(board.phase(), Phase::Initialising);
        let fmu = |word: FmuWord| board.fmu(FmuId(0)).word(word).load(Relaxed);
        assert_eq!((fmu(FmuWord::Commands), fmu(FmuWord::FailureStatus), fmu(FmuWord::End)), (9, 0, 0));
        let rest =
            |range: std::ops::Range<usize>| -> Vec<u64> { words[range].iter().map(|w| w.load(Relaxed)).collect() };
        assert_eq!(rest(layout.log..layout.initial), log, "FMU threads may be writing to the log");
        assert_eq!(
            (rest(layout.initial..layout.commands), rest(layout.commands..layout.total)),
            (vec![0; 2], vec![9; 3])
        );
    }
}
