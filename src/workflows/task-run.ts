/**
 * The state of a task's workflow in one run, the methods that handlers may call, and what people can see of it.
 * Handlers are synchronous and only change this state; only the loop acts on it.
 */
import { defineSearchAttributeKey } from '@temporalio/common';
import { CancellationScope, log, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { TaskEnd } from '../core/task/control.ts';
import type { Refusal } from '../core/thread/item.ts';
import type { Settings } from '../core/thread/open-thread.ts';
import type { ThreadStatus } from '../core/thread/step.ts';
import { TASK_ID_PREFIX, type TaskStart } from '../core/thread/task-start.ts';
import type { TaskCause, ThoughtOutcome } from '../core/thread/task-step.ts';
import { type BoundActivities, bindActivities, StoreBinding } from './activities.ts';
import { Mailbox } from './mailbox.ts';
import type { TaskStatusView } from './messages.ts';
import { WaitWatch } from './wait-watch.ts';

const THREAD_STATUS = defineSearchAttributeKey('ThreadStatus', 'KEYWORD');
const AGENT_ID = defineSearchAttributeKey('AgentId', 'KEYWORD');
const ROOT_THREAD_ID = defineSearchAttributeKey('RootThreadId', 'KEYWORD');

type Shown = TaskStatusView['status'];

export class TaskRun {
  readonly start: TaskStart;
  readonly threadId: string;
  readonly waits = new WaitWatch();
  readonly store: StoreBinding;
  readonly activities: BoundActivities;
  readonly mailbox = new Mailbox(() => this.#show());
  /** Logs refusals of signals, which cannot return an error. */
  readonly refusals = { add: ({ reason }: Refusal) => log.warn(`refused: ${reason}`) };
  #phase: { readonly kind: 'opening' } | { readonly kind: 'open'; readonly settings: Settings } = {
    kind: 'opening',
  };
  #cause: TaskCause | undefined;
  #scope: CancellationScope | undefined;
  #thought: ThoughtOutcome | undefined;
  #step = 0;
  #status: Shown = 'running';
  #activity = 'opening';

  constructor(start: TaskStart) {
    this.start = start;
    this.threadId = TASK_ID_PREFIX + start.id;
    this.store = new StoreBinding(start.storeId ?? undefined);
    this.activities = bindActivities(this.threadId, this.store);
  }

  get phase() {
    return this.#phase;
  }

  get settings(): Settings | undefined {
    return this.#phase.kind === 'open' ? this.#phase.settings : undefined;
  }

  open(settings: Settings, rootId = this.threadId): void {
    this.#phase = { kind: 'open', settings };
    if (this.start.storeId !== null || !settings.searchAttributes) return;
    upsertSearchAttributes([
      { key: THREAD_STATUS, value: 'running' satisfies ThreadStatus },
      { key: AGENT_ID, value: this.start.task },
      { key: ROOT_THREAD_ID, value: rootId },
    ]);
  }

  /** Why the task must end at once, whatever its adapter decides. */
  get cause(): TaskCause | undefined {
    return this.#cause;
  }

  /** Requests the end of the task, and aborts the running phase. The first cause counts. */
  end(cause: TaskCause): void {
    this.#cause ??= cause;
    this.#scope?.cancel();
  }

  /** Runs `work` in a scope that `end` cancels. */
  async within<T>(work: () => Promise<T>): Promise<T> {
    const scope = new CancellationScope();
    this.#scope = scope;
    try {
      return await scope.run(work);
    } finally {
      this.#scope = undefined;
    }
  }

  get hasThought(): boolean {
    return this.#thought !== undefined;
  }

  /** Returns the kept thought of the step and clears it, so that another attempt at the step thinks again. */
  takeThought(): ThoughtOutcome | undefined {
    const thought = this.#thought;
    this.#thought = undefined;
    return thought;
  }

  keepThought(thought: ThoughtOutcome): void {
    this.#thought = thought;
  }

  get step(): number {
    return this.#step;
  }

  goTo(step: number): void {
    this.#step = step;
  }

  showStatus(status: Shown): void {
    if (this.#status === status) return;
    this.#status = status;
    if (this.settings?.searchAttributes)
      upsertSearchAttributes([{ key: THREAD_STATUS, value: toThreadStatus(status) }]);
  }

  showActivity(activity: string): void {
    this.#activity = activity;
    this.#show();
  }

  get view(): TaskStatusView {
    const { open } = this.waits;
    return {
      taskId: this.start.id,
      task: this.start.task,
      status: this.#status,
      step: this.#step,
      activity: this.#activity,
      waits: open.length > 0 ? open : undefined,
    };
  }

  #show(): void {
    const { id, task } = this.start;
    setCurrentDetails(
      `- **now:** ${this.#activity}\n- **status:** ${this.#status}\n- **task:** ${task}\n- **step:** ${this.#step}\n\n` +
        `Read it: \`everthread tasks show ${id}\``,
    );
  }
}

const ENDS: readonly TaskEnd[] = ['completed', 'blocked', 'failed', 'aborted'];

/** The value of the search attribute `ThreadStatus`, which tasks share with threads. */
function toThreadStatus(status: Shown): ThreadStatus {
  return ENDS.some((end) => end === status) ? 'terminated' : (status as 'running' | 'waiting');
}
