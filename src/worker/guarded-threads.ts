/**
 * The workflow threads (Node worker threads) of one Temporal worker, started with our own entry script
 * (`workflow-thread.ts`) instead of the SDK's. A thread with a lost context refuses new requests, and ends after the
 * pending ones.
 * Prevents a query from advancing a thread. A query that the server dispatched while no workflow task was pending may
 * wait in the queue of a busy worker while further events are added; the server then delivers those with the query,
 * without a workflow task. The SDK's core applies them, so the thread acts on them before their task. History records
 * only tasks, so a replay sees another order: signals that came between the query and the task are applied first
 * (docs/sdk-queries.md).
 * A1. An activation with new events but without a new workflow task is refused. The query fails and can be repeated;
 *     the thread is replayed with its next task.
 * A2. An activation with nothing but queries is allowed: the last events of an ended thread belong to no task either.
 */

import { MessageChannel, Worker as NodeThread } from 'node:worker_threads';
import type { Workflow } from '@temporalio/worker/lib/workflow/interface.js';
import {
  ThreadedVMWorkflowCreator,
  type ThreadedVMWorkflowCreatorOptions,
  WorkerThreadClient,
} from '@temporalio/worker/lib/workflow/threaded-vm.js';
import { type Culprit, LostContextError } from './context-guard.ts';

export type ContextLoss =
  | { readonly kind: 'timeout'; readonly culprit: Culprit }
  /** The thread itself has ended: out of memory, or a rejection that belongs to no workflow. */
  | { readonly kind: 'died'; readonly error: unknown };

export interface ContextWatch {
  /** Called before a workflow is loaded; throws if it must not be tried now. */
  admit(workflowId: string): void;
  /** Called at the first loss, and possibly again at later ones. */
  lost(loss: ContextLoss): void;
}

type Request = Parameters<WorkerThreadClient['send']>[0];
type Answer = Awaited<ReturnType<WorkerThreadClient['send']>>;

/** Starts the threads. The SDK's protocol requires `init` as the first request to each. */
export async function startGuardedThreads(
  options: ThreadedVMWorkflowCreatorOptions,
  watch: ContextWatch,
): Promise<ThreadedVMWorkflowCreator> {
  const { workflowBundle, isolateExecutionTimeoutMs, reuseV8Context, registeredActivityNames } = options;
  const threads = Array.from({ length: options.threadPoolSize }, () => new GuardedThread(options, watch));
  try {
    const hasPatchActivationCallback = options.patchActivationCallback !== undefined;
    const init = { workflowBundle, isolateExecutionTimeoutMs, reuseV8Context, registeredActivityNames };
    await Promise.all(
      threads.map((thread) => thread.send({ type: 'init', ...init, hasPatchActivationCallback })),
    );
  } catch (error) {
    await Promise.all(threads.map((thread) => thread.end()));
    throw error;
  }
  return new GuardedCreator(threads, watch);
}

class GuardedCreator extends ThreadedVMWorkflowCreator {
  readonly #watch: ContextWatch;

  constructor(threads: WorkerThreadClient[], watch: ContextWatch) {
    super(threads);
    this.#watch = watch;
  }

  override async createWorkflow(options: Parameters<ThreadedVMWorkflowCreator['createWorkflow']>[0]) {
    this.#watch.admit(options.info.workflowId);
    return refuseAheadOfTask(await super.createWorkflow(options));
  }
}

class GuardedThread extends WorkerThreadClient {
  #culprit: Culprit | undefined;
  #ending = false;
  #open = 0;

  constructor({ logger, patchActivationCallback }: ThreadedVMWorkflowCreatorOptions, watch: ContextWatch) {
    const { port1: alarm, port2 } = new MessageChannel();
    const entry = new URL(
      `./workflow-thread.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`,
      import.meta.url,
    );
    const thread = new NodeThread(entry, { workerData: { alarm: port2 }, transferList: [port2] });
    super(thread, logger, patchActivationCallback);
    alarm.on('message', (culprit: Culprit) => {
      this.#culprit = culprit;
      watch.lost({ kind: 'timeout', culprit });
      this.#endWhenAnswered();
    });
    alarm.unref();
    let error: unknown;
    thread.on('error', (cause) => {
      error = cause;
    });
    thread.on('exit', () => {
      alarm.close();
      if (!this.#ending) watch.lost({ kind: 'died', error });
    });
  }

  override async send(request: Request): Promise<Answer> {
    if (this.#culprit) return answerWithoutContext(request, this.#culprit);
    this.#open += 1;
    try {
      return await super.send(request);
    } finally {
      this.#open -= 1;
      this.#endWhenAnswered();
    }
  }

  override async destroy(): Promise<void> {
    // The SDK's `destroy` would run a script in the lost context.
    if (this.#culprit) return this.end();
    this.#ending = true;
    await super.destroy();
  }

  async end(): Promise<void> {
    this.#ending = true;
    await this.workerThread.terminate();
  }

  #endWhenAnswered(): void {
    if (this.#culprit && this.#open === 0) void this.end();
  }
}

/** Answers the SDK's requests to a thread with a lost context. Removing workflows needs no context; all else throws. */
function answerWithoutContext({ type }: Request, culprit: Culprit): Answer {
  if (type === 'extract-sink-calls') return { type: 'sink-calls', calls: [] };
  if (type === 'dispose-workflow' || type === 'destroy') return undefined;
  throw new LostContextError(culprit);
}

type Activation = Parameters<Workflow['activate']>[0];

/** Identifies the workflow task that an activation belongs to. */
interface Moment {
  readonly events: number;
  /** Start time of the task; unique among the tasks of a run. */
  readonly taskStarted: string;
}

class AheadOfTaskError extends Error {
  constructor() {
    super(
      'The thread has new events that its workflow task has not delivered yet: repeat the query in a moment',
    );
    this.name = 'AheadOfTaskError';
  }
}

/** Changes the workflow so that it refuses events delivered by a query alone (A1); returns the same object. */
function refuseAheadOfTask(workflow: Workflow): Workflow {
  const activate = workflow.activate.bind(workflow);
  let last: Moment | undefined;
  workflow.activate = async (activation) => {
    const moment = momentOf(activation);
    if (last && isAhead(last, moment) && hasNews(activation)) throw new AheadOfTaskError();
    last = moment;
    return activate(activation);
  };
  return workflow;
}

/** A1: more events with the same task. Activations that belong to one task have the same number of events. */
function isAhead(last: Moment, { events, taskStarted }: Moment): boolean {
  return events > last.events && taskStarted === last.taskStarted;
}

/** A2: true if the activation has any job other than a query. */
function hasNews({ jobs }: Activation): boolean {
  return jobs?.some(({ queryWorkflow }) => !queryWorkflow) ?? false;
}

function momentOf({ historyLength, timestamp }: Activation): Moment {
  return { events: historyLength ?? 0, taskStarted: `${timestamp?.seconds}.${timestamp?.nanos}` };
}
