/**
 * The workflow threads (Node worker threads) of one Temporal worker, started with our own entry script
 * (`workflow-thread.ts`) instead of the SDK's, and watched: a thread in which one script runs for longer than the script
 * timeout is ended. The script stopped at an arbitrary point, so its context is not entered again.
 */
import { Worker as NodeThread } from 'node:worker_threads';
import {
  ThreadedVMWorkflowCreator,
  type ThreadedVMWorkflowCreatorOptions,
  WorkerThreadClient,
} from '@temporalio/worker/lib/workflow/threaded-vm.js';
import type { WorkflowInfo } from '@temporalio/workflow';
import { refuseAheadOfTask } from './ahead-of-task.ts';
import { type Culprit, EntryNote, LostContextError } from './context-guard.ts';

export type ContextLoss =
  | { readonly kind: 'timeout'; readonly culprit: Culprit }
  /** The thread itself has ended: out of memory, or a rejection that belongs to no workflow. */
  | { readonly kind: 'died'; readonly error: unknown };

export interface ContextWatch {
  /** Called before a workflow is loaded; throws if it must not be tried now. */
  admit(workflow: WorkflowInfo): void;
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
    this.#watch.admit(options.info);
    return refuseAheadOfTask(await super.createWorkflow(options));
  }
}

class GuardedThread extends WorkerThreadClient {
  #culprit: Culprit | undefined;
  #ending = false;

  constructor(options: ThreadedVMWorkflowCreatorOptions, watch: ContextWatch) {
    const entries = new EntryNote();
    const entry = new URL(
      `./workflow-thread.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`,
      import.meta.url,
    );
    const thread = new NodeThread(entry, { workerData: { entries: entries.shared } });
    super(thread, options.logger, options.patchActivationCallback);
    const unwatch = watchEntries(entries, options.isolateExecutionTimeoutMs, (culprit) => {
      this.#culprit = culprit;
      watch.lost({ kind: 'timeout', culprit });
      void this.end();
    });
    let error: unknown;
    thread.on('error', (cause) => {
      error = cause;
    });
    thread.on('exit', () => {
      unwatch();
      if (!this.#ending) watch.lost({ kind: 'died', error });
    });
  }

  override async send(request: Request): Promise<Answer> {
    if (this.#culprit) return answerWithoutContext(request, this.#culprit);
    try {
      return await super.send(request);
    } catch (error) {
      // The thread was ended while this request was pending.
      if (this.#culprit) return answerWithoutContext(request, this.#culprit);
      throw error;
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
}

/** Looks at the entries of a thread this many times per script timeout. */
const LOOKS = 5;

/**
 * Calls `lost` once, when one entry has lasted for the timeout. The clock is that of this thread: an entry is found
 * later if this thread computes meanwhile, never earlier.
 */
function watchEntries(entries: EntryNote, timeoutMs: number, lost: (culprit: Culprit) => void): () => void {
  let seen = { count: 0, at: performance.now() };
  const look = () => {
    const { count } = entries;
    const now = performance.now();
    if (count !== seen.count || count % 2 === 0) seen = { count, at: now };
    else if (now - seen.at >= timeoutMs) {
      clearInterval(timer);
      lost(entries.readCulprit());
    }
  };
  const timer = setInterval(look, Math.ceil(timeoutMs / LOOKS));
  timer.unref();
  return () => clearInterval(timer);
}

/** Answers the SDK's requests to a thread with a lost context. Removing workflows needs no context; all else throws. */
function answerWithoutContext({ type }: Request, culprit: Culprit): Answer {
  if (type === 'extract-sink-calls') return { type: 'sink-calls', calls: [] };
  if (type === 'dispose-workflow' || type === 'destroy') return undefined;
  throw new LostContextError(culprit);
}
