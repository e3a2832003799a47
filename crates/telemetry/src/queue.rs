//! Bounded queues of what waits to be exported; what does not fit or cannot be sent is dropped and counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use opentelemetry::{Context, InstrumentationScope};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::logs::{LogBatch, LogExporter, LogProcessor, SdkLogRecord};
use opentelemetry_sdk::trace::{Span, SpanData, SpanExporter, SpanProcessor};

/// Counts what waits.
#[derive(Debug)]
pub(crate) struct Queue {
    limit: usize,
    waiting: AtomicUsize,
    dropped: AtomicU64,
}

impl Queue {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, waiting: AtomicUsize::new(0), dropped: AtomicU64::new(0) })
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Takes a place; `false` if there is none.
    fn enter(&self) -> bool {
        if self.waiting.fetch_add(1, Ordering::Relaxed) < self.limit {
            return true;
        }
        self.leave(1, false);
        false
    }

    /// Gives places back of what was sent, or was not.
    fn leave(&self, count: usize, is_sent: bool) {
        self.waiting.fetch_sub(count, Ordering::Relaxed);
        if !is_sent {
            self.dropped.fetch_add(count as u64, Ordering::Relaxed);
        }
    }

    /// How many were dropped so far.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// How many are not exported: those that wait, and those that were dropped.
    pub(crate) fn lost(&self) -> u64 {
        self.dropped() + self.waiting.load(Ordering::Relaxed) as u64
    }
}

/// In front of a batch: lets in what the queue has a place for.
#[derive(Debug)]
pub(crate) struct Bounded<T> {
    pub(crate) inner: T,
    pub(crate) queue: Arc<Queue>,
}

impl<T: SpanProcessor> SpanProcessor for Bounded<T> {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.inner.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        if self.queue.enter() {
            self.inner.on_end(span);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

impl<T: LogProcessor> LogProcessor for Bounded<T> {
    fn emit(&self, record: &mut SdkLogRecord, scope: &InstrumentationScope) {
        if self.queue.enter() {
            self.inner.emit(record, scope);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

/// Behind a batch: gives the places back of what was sent, or could not be sent.
#[derive(Debug)]
pub(crate) struct Leaving<T> {
    pub(crate) exporter: T,
    pub(crate) queue: Arc<Queue>,
}

impl<T: SpanExporter> SpanExporter for Leaving<T> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len();
        let sent = self.exporter.export(batch).await;
        self.queue.leave(count, sent.is_ok());
        sent
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

impl<T: LogExporter> LogExporter for Leaving<T> {
    async fn export(&self, batch: LogBatch<'_>) -> OTelSdkResult {
        let count = batch.iter().count();
        let sent = self.exporter.export(batch).await;
        self.queue.leave(count, sent.is_ok());
        sent
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use super::Queue;

    #[test]
    fn what_does_not_fit_is_dropped_and_counted() {
        let queue = Queue::new(2);
        assert_eq!(
            [queue.enter(), queue.enter(), queue.enter(), queue.enter()],
            [true, true, false, false]
        );
        assert_eq!((queue.dropped(), queue.lost()), (2, 4));
        queue.leave(1, true);
        queue.leave(1, false);
        assert!(queue.enter());
        assert_eq!((queue.dropped(), queue.lost()), (3, 4));
    }
}
