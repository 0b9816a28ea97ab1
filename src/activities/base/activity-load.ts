/**
 * What the activities of this process know of each other: how many run on the queue of the workflows, and how long the tools of the project have
 * taken. Both decide what may run within the activity of a step (step/step-loop.ts, step/inside-calls.ts).
 * - A tool that is not quick by its definition runs there once it has proved to be short. Its first run is an activity
 *   of its own.
 * - After a long run a tool is long for some minutes, however short later runs are: one that waits for a busy server
 *   now and then would otherwise hold up its step again and again.
 */
import { performance } from 'node:perf_hooks';
import type { ToolDefinition } from '../../core/author/registry.ts';

/** The longest run of a short tool. */
const SHORT_MS = 500;
const LONG_FOR_MS = 5 * 60_000;
/** Share of the slots above which an activity ends where it may. */
const CROWDED = 0.75;

export class ActivityLoad {
  readonly #slots: number;
  #running = 0;
  /** The time until which a tool counts as long; 0 for a short one. */
  readonly #longUntil = new WeakMap<ToolDefinition, number>();

  constructor(slots = Number.POSITIVE_INFINITY) {
    this.#slots = slots;
  }

  async run<T>(activity: () => Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      return await activity();
    } finally {
      this.#running -= 1;
    }
  }

  /** True while other activities may need the slots that are left. */
  get isCrowded(): boolean {
    return this.#running > this.#slots * CROWDED;
  }

  noteRun(tool: ToolDefinition, ms: number): void {
    if (ms > SHORT_MS) this.#longUntil.set(tool, performance.now() + LONG_FOR_MS);
    else if (!this.#longUntil.has(tool)) this.#longUntil.set(tool, 0);
  }

  /** False for a tool that has not run in this process since its project was loaded. */
  isShort(tool: ToolDefinition): boolean {
    return (this.#longUntil.get(tool) ?? Number.POSITIVE_INFINITY) <= performance.now();
  }
}
