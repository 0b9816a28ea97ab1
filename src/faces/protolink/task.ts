/** Tasks, which carry work and results, under Protolink's names. */
import { randomUUID } from 'node:crypto';
import { RuntimeError } from '../../core/value/error.ts';
import type { RunEvent, RunTaskState } from '../../projections/run/run-event.ts';
import type { RunTask } from '../../projections/run/run-task.ts';
import { checkNames } from '../known-names.ts';
import { type Artifact, type Fields, Part } from './artifact.ts';

export interface TaskMessage {
  readonly role: string;
  readonly parts: readonly Part[];
}

const OF_RUN = new Set([
  'run_context',
  'run_id',
  'session_id',
  'trace_id',
  'workspace_uri',
  'parent_run_id',
  'canceled',
  'cancel_reason',
  'thread_id',
  'stop_reason',
  'error',
]);

/**
 * A task. Its id is generated before it is submitted, so it can be cancelled by that id from anywhere.
 * @example
 * ```ts
 * const task = Task.createInfer({ prompt: 'Summarize the latest report' });
 * console.log(task.id, task.state);
 * ```
 */
export class Task {
  readonly id: string;
  readonly messages: readonly TaskMessage[];
  /** The results, once the task has run. */
  artifacts: readonly Artifact[] = [];
  state: RunTaskState = 'submitted';
  readonly metadata: Record<string, unknown>;

  constructor({
    id = randomUUID(),
    messages = [],
    metadata = {},
  }: Partial<Pick<Task, 'id' | 'messages' | 'metadata'>> = {}) {
    this.id = id;
    this.messages = messages;
    this.metadata = { ...metadata };
  }

  /** With an id of its own, it is the same task in any process. */
  static createInfer(given: { readonly prompt: string; readonly id?: string }): Task {
    checkNames('A question', 'field', given, { prompt: true, id: true });
    const { prompt, ...named } = given;
    return new Task({ ...named, messages: [{ role: 'user', parts: [Part.infer(prompt)] }] });
  }

  static createToolCall(given: {
    readonly toolName: string;
    readonly args?: Fields;
    readonly id?: string;
  }): Task {
    checkNames('A call', 'field', given, { toolName: true, args: true, id: true });
    const { toolName, args = {}, ...named } = given;
    return new Task({ ...named, messages: [{ role: 'user', parts: [Part.toolCall(toolName, args)] }] });
  }

  get isTerminal(): boolean {
    return ['completed', 'canceled', 'failed'].includes(this.state);
  }

  /**
   * The work of the last message: a question to the model, or a tool call. Throws `InvalidValue` unless that message
   * has exactly one of these.
   */
  get work(): string | { readonly name: string; readonly arguments: Fields } {
    const parts =
      this.messages.at(-1)?.parts.filter(({ type }) => type === 'infer' || type === 'tool_call') ?? [];
    const [part] = parts;
    if (!part || parts.length > 1)
      throw new RuntimeError(
        'InvalidValue',
        `The task "${this.id}" has ${parts.length} parts to carry out: it must have exactly one "infer" or "tool_call".`,
      );
    const {
      prompt,
      tool_name: name,
      args,
    } = part.content as { prompt: string; tool_name: string; args: Fields };
    return part.type === 'infer' ? prompt : { name, arguments: args };
  }

  /** The metadata of the application: what a run writes into its task is left out. */
  get ownMetadata(): Fields {
    return Object.fromEntries(Object.entries(this.metadata).filter(([name]) => !OF_RUN.has(name)));
  }

  /** The text of the last artifact; empty if there is none. */
  get answer(): string {
    return String(this.artifacts.at(-1)?.parts[0]?.content ?? '');
  }

  /** Only sets the state: a running task is cancelled by `Agent.cancelTask`. */
  cancel(reason?: string): this {
    this.state = 'canceled';
    if (reason !== undefined) this.metadata.cancel_reason = reason;
    return this;
  }

  /** Applies a `task.status` event of its run. */
  follow({ type, payload }: RunEvent): void {
    if (type !== 'task.status') return;
    this.state = payload.new_state as RunTaskState;
    const { artifacts, metadata } = (payload.task ?? {}) as Partial<RunTask>;
    this.artifacts = artifacts ?? this.artifacts;
    Object.assign(this.metadata, metadata);
  }

  toDict(): Fields {
    const { id, state, messages, artifacts, metadata } = this;
    return { id, state, messages, artifacts, metadata };
  }
}
