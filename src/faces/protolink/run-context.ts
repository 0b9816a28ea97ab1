/** The context of a run, under Protolink's names. What follows from it is decided in `core/governance`. */
import { randomUUID } from 'node:crypto';
import { readContextMetadata, writeContextMetadata } from '../../core/governance/context-metadata.ts';
import { parseContext } from '../../core/governance/given-context.ts';
import type { Permissions } from '../../core/governance/permissions.ts';
import {
  childContext,
  contextOf,
  type RunContext as EngineContext,
  type GivenContext,
} from '../../core/governance/run-context.ts';
import type { RunLimits } from '../../core/governance/run-limit.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { checkNames, type Names } from '../known-names.ts';
import type { Task } from './task.ts';

const CONTEXT_FIELDS: Names<GivenContext> = {
  runId: true,
  sessionId: true,
  traceId: true,
  traceparent: true,
  traceLinks: true,
  workspaceUri: true,
  organizationId: true,
  parentRunId: true,
  agentChain: true,
  permissions: true,
  budget: true,
  canceled: true,
  cancelReason: true,
  metadata: true,
};

/**
 * The ids, permissions and limits of a run. Immutable: methods that change it return a new context.
 * @example
 * ```ts
 * const task = Task.createInfer({ prompt: 'Summarize the latest report' });
 * new RunContext({ sessionId: 'session_abc', permissions: { 'fs.read': true }, budget: { maxSteps: 8 } }).attachToTask(task);
 * ```
 */
export class RunContext {
  /** The values that were given; the engine's defaults apply to the rest. */
  readonly given: GivenContext & { readonly runId: string };

  readonly runId: string;
  readonly sessionId: string | null;
  readonly traceId: string | null;
  readonly workspaceUri: string | null;
  readonly parentRunId: string | null;
  /** Agents that have had the work, the first one first. */
  readonly agentChain: readonly string[];
  readonly permissions: Permissions;
  readonly budget: RunLimits;
  readonly canceled: boolean;
  readonly cancelReason: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;

  /** Generates a run id if none is given. Throws `InvalidValue` for an unknown field or limit, and an invalid value. */
  constructor(given: GivenContext = {}) {
    checkNames('A run context', 'field', given, CONTEXT_FIELDS);
    const parsed = parseContext(given, 'run context');
    if (!parsed.ok) throw new RuntimeError('InvalidValue', `A context was refused: ${parsed.reason}.`);
    this.runId = given.runId ?? `run_${randomUUID()}`;
    this.given = { ...given, runId: this.runId };
    this.sessionId = given.sessionId ?? null;
    this.traceId = given.traceId ?? null;
    this.workspaceUri = given.workspaceUri ?? null;
    this.parentRunId = given.parentRunId ?? null;
    this.agentChain = given.agentChain ?? [];
    this.permissions = given.permissions ?? {};
    this.budget = given.budget ?? {};
    this.canceled = given.canceled ?? false;
    this.cancelReason = given.cancelReason ?? null;
    this.metadata = given.metadata ?? {};
  }

  /** Context of a child run: its own run id, this run as its parent, and the same values, except for a cancellation. */
  child({ runId, agentName }: { readonly runId?: string; readonly agentName?: string } = {}): RunContext {
    const { sessionId: _, ...begun } = childContext(this.#toContext());
    const { sessionId } = this;
    const child = new RunContext({ ...begun, ...(sessionId && { sessionId }), ...(runId && { runId }) });
    return agentName === undefined ? child : child.withAgent(agentName);
  }

  withAgent(name: string): RunContext {
    const { agentChain } = this;
    return agentChain.at(-1) === name ? this : this.#with({ agentChain: [...agentChain, name] });
  }

  /** Returns a copy that is marked as cancelled; it does not cancel a running task, which `Agent.cancelTask` does. */
  cancel(cancelReason?: string): RunContext {
    return this.#with({ canceled: true, ...(cancelReason && { cancelReason }) });
  }

  /** Writes the context into the metadata of the task, with copies of its ids beside it. */
  attachToTask(task: Task): void {
    const { session_id, ...written } = writeContextMetadata(this.#toContext());
    const session = this.sessionId === null ? {} : { session_id };
    Object.assign(task.metadata, written, session, { run_context: this.toDict() });
  }

  toDict(): Readonly<Record<string, unknown>> {
    const { run_context: all } = writeContextMetadata(this.#toContext());
    return { ...(all as object), session_id: this.sessionId };
  }

  static fromDict(data: unknown): RunContext {
    return new RunContext(readContextMetadata({ run_context: data }) ?? {});
  }

  /** Converts the context of an execution. */
  static of(context: EngineContext): RunContext {
    return RunContext.fromDict(writeContextMetadata(context).run_context);
  }

  /** Also reads metadata in older forms; if there is none, the run id is the task's id. */
  static fromTask(task: Task): RunContext {
    return new RunContext({ runId: task.id, ...readContextMetadata(task.metadata) });
  }

  /** Returns the task's context with this agent at the end of its chain, and writes it into the task. */
  static ensureTaskContext(task: Task, agentName: string): RunContext {
    const { given } = RunContext.fromTask(task);
    const context = new RunContext({ sessionId: task.id, ...given }).withAgent(agentName);
    context.attachToTask(task);
    return context;
  }

  #toContext() {
    const { agentChain, runId } = this;
    return { ...contextOf(this.given, { executionId: runId, rootId: runId, agent: '' }), agentChain };
  }

  #with(change: GivenContext): RunContext {
    return new RunContext({ ...this.given, ...change });
  }
}
