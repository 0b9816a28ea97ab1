/**
 * Whether the event loop is blocked by an endless computation. Decided from its beats and from the processor time of its
 * thread: a thread that does not turn and does not compute is starved, stopped or waiting, which is not an endless loop.
 */
export interface LoopSample {
  /** How often the loop has turned. */
  readonly beats: number;
  /** Processor time of its thread, in milliseconds. */
  readonly cpuMs: number;
}

export class StallMeter {
  #last: LoopSample;

  constructor(first: LoopSample) {
    this.#last = first;
  }

  /** Milliseconds of computing since the loop last turned. */
  measure(sample: LoopSample): number {
    if (sample.beats !== this.#last.beats) this.#last = sample;
    return sample.cpuMs - this.#last.cpuMs;
  }
}
