/** How a run runs, under the page's names. What follows from a context is decided in `core/governance`. */
import { randomUUID } from 'node:crypto';
import { readContextMetadata, writeContextMetadata } from '../core/governance/context-metadata.ts';
import { childContext, contextOf, type GivenContext } from '../core/governance/run-context.ts';
import type { Task } from './task.ts';

/**
 * A run's ids, permissions and limits. It never changes: what changes it answers another one.
 * @example
 * ```ts
 * const task = Task.createInfer({ prompt: 'Summarize the latest report' });
 * new RunContext({ sessionId: 'session_abc', permissions: { 'fs.read': true }, budget: { maxSteps: 8 } }).attachToTask(task);
 * ```
 */
export class RunContext {
  /** All that it says; what is absent has the engine's default. */
  readonly given: GivenContext & { readonly runId: string };

  /** Without a run id it has one of its own. */
  constructor(given: GivenContext = {}) {
    this.given = { ...given, runId: given.runId ?? `run_${randomUUID()}` };
  }

  get runId(): string {
    return this.given.runId;
  }

  /** For work that is handed on: a run of its own, and all else as here. */
  child({ runId, agentName }: { readonly runId?: string; readonly agentName?: string } = {}): RunContext {
    const { sessionId: _, ...begun } = childContext(this.#kept());
    const { sessionId } = this.given;
    const child = new RunContext({ ...begun, ...(sessionId && { sessionId }), ...(runId && { runId }) });
    return agentName === undefined ? child : child.withAgent(agentName);
  }

  withAgent(name: string): RunContext {
    const { agentChain = [] } = this.given;
    return agentChain.at(-1) === name ? this : this.#with({ agentChain: [...agentChain, name] });
  }

  /** A copy that says so: what runs is cancelled by `Agent.cancelTask`. */
  cancel(cancelReason?: string): RunContext {
    return this.#with({ canceled: true, ...(cancelReason && { cancelReason }) });
  }

  /** Writes it into the task's metadata, with copies of its ids beside it. */
  attachToTask(task: Task): void {
    const { session_id, ...written } = writeContextMetadata(this.#kept());
    const session = this.given.sessionId === undefined ? {} : { session_id };
    Object.assign(task.metadata, written, session, { run_context: this.toDict() });
  }

  toDict(): Readonly<Record<string, unknown>> {
    const { run_context: all } = writeContextMetadata(this.#kept());
    return { ...(all as object), session_id: this.given.sessionId ?? null };
  }

  static fromDict(data: unknown): RunContext {
    return new RunContext(readContextMetadata({ run_context: data }) ?? {});
  }

  /** Older metadata is understood; where there is none the run has the task's id. */
  static fromTask(task: Task): RunContext {
    return new RunContext({ runId: task.id, ...readContextMetadata(task.metadata) });
  }

  /** The task's context, with this agent as the last of its chain; it is written into the task. */
  static ensureTaskContext(task: Task, agentName: string): RunContext {
    const { given } = RunContext.fromTask(task);
    const context = new RunContext({ sessionId: task.id, ...given }).withAgent(agentName);
    context.attachToTask(task);
    return context;
  }

  #kept() {
    const { agentChain = [], runId } = this.given;
    return { ...contextOf(this.given, { executionId: runId, rootId: runId, agent: '' }), agentChain };
  }

  #with(change: GivenContext): RunContext {
    return new RunContext({ ...this.given, ...change });
  }
}
