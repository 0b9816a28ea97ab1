/** Tasks: what work and results are exchanged, under the page's names. */
import { randomUUID } from 'node:crypto';
import type { RunEvent, RunTaskState } from '../projections/run/run-event.ts';
import { type Artifact, type Fields, Part, readArtifact } from './artifact.ts';

export interface TaskMessage {
  readonly role: string;
  readonly parts: readonly Part[];
}

/**
 * A task. Its id is made before it is submitted, so whoever has it can cancel it from anywhere.
 * @example
 * ```ts
 * const task = Task.createInfer({ prompt: 'Summarize the latest report' });
 * console.log(task.id, task.state);
 * ```
 */
export class Task {
  readonly id: string;
  readonly messages: readonly TaskMessage[];
  /** What came of it, once it has run. */
  artifacts: readonly Artifact[] = [];
  state: RunTaskState = 'submitted';
  readonly metadata: Record<string, unknown>;

  constructor({
    id = randomUUID(),
    messages = [],
    metadata = {},
  }: Partial<Pick<Task, 'id' | 'messages'>> & { readonly metadata?: Fields } = {}) {
    this.id = id;
    this.messages = messages;
    this.metadata = { ...metadata };
  }

  static createInfer({ prompt }: { readonly prompt: string }): Task {
    return new Task({ messages: [{ role: 'user', parts: [Part.infer(prompt)] }] });
  }

  static createToolCall({
    toolName,
    args = {},
  }: {
    readonly toolName: string;
    readonly args?: Fields;
  }): Task {
    return new Task({ messages: [{ role: 'user', parts: [Part.toolCall(toolName, args)] }] });
  }

  get isTerminal(): boolean {
    return ['completed', 'canceled', 'failed'].includes(this.state);
  }

  /** Of the state alone: what runs is cancelled by `Agent.cancelTask`. */
  cancel(reason?: string): this {
    this.state = 'canceled';
    if (reason !== undefined) this.metadata.cancel_reason = reason;
    return this;
  }

  /** As a `task.status` of its run tells it. */
  follow({ type, payload }: RunEvent): void {
    if (type !== 'task.status') return;
    this.state = payload.new_state as RunTaskState;
    const { task } = payload as {
      readonly task?: { readonly artifacts: readonly Fields[]; readonly metadata: Fields };
    };
    if (!task) return;
    this.artifacts = task.artifacts.map(readArtifact);
    Object.assign(this.metadata, task.metadata);
  }

  toDict(): Fields {
    const { id, state, messages, artifacts, metadata } = this;
    return { id, state, messages, artifacts, metadata };
  }
}
