/**
 * Does the event loop stand still because something computes without end? Decided from its beats and from the processor time that its
 * thread has used: a thread that stands still without computing is starved, stopped or waiting, and none of that is an endless loop.
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

  /** Milliseconds of computing since the loop was last seen to turn. */
  measure(sample: LoopSample): number {
    if (sample.beats !== this.#last.beats) this.#last = sample;
    return sample.cpuMs - this.#last.cpuMs;
  }
}
