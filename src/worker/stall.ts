/**
 * Detects whether an endless computation blocks the event loop, from the number of its turns and the CPU time of its
 * thread. If the loop does not turn but its thread uses no CPU, it is starved, stopped or waiting, not in an endless
 * loop.
 */
export interface LoopSample {
  /** Counter that a timer on the event loop increments. */
  readonly beats: number;
  /** CPU time of its thread, in milliseconds. */
  readonly cpuMs: number;
}

export class StallMeter {
  #last: LoopSample;

  constructor(first: LoopSample) {
    this.#last = first;
  }

  /** Returns the CPU time in milliseconds since the loop last turned. */
  measure(sample: LoopSample): number {
    if (sample.beats !== this.#last.beats) this.#last = sample;
    return sample.cpuMs - this.#last.cpuMs;
  }
}
