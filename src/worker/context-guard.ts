/**
 * Runs in a workflow thread, around every entry into the V8 context that the threads share. When a script does not end
 * regularly, Node leaves its microtasks in the context, and they would run within the next entry, whichever
 * thread's that is: their commands would enter another thread's history (docs/sdk-context-timeout.md).
 * G1. After a script that threw, its microtasks run at once, while the thread that queued them is still current. Its
 *     task has failed, so their effects are discarded.
 * G2. A script that was ended by the timeout stopped at an arbitrary point, without its `finally`: the context is not entered again.
 */
import vm from 'node:vm';

/** The workflow whose script timed out; unknown where even that could not be read. */
export interface Culprit {
  readonly workflowId?: string;
  readonly runId?: string;
}

type RunInContext = typeof vm.Script.prototype.runInContext;
type RunOptions = Exclude<Parameters<RunInContext>[1], undefined>;

const NOTHING = new vm.Script('undefined');
/** For the SDK's few scripts without a timeout of their own. */
const DRAIN_TIMEOUT_MS = 1000;

/** Once per thread. `tell` is called before the failure of the task is reported. */
export function guardContexts(tell: (culprit: Culprit) => void): void {
  const run: RunInContext = vm.Script.prototype.runInContext;
  let lost: Culprit | undefined;
  const lose = (context: vm.Context) => {
    lost = readCulprit(context);
    tell(lost);
  };
  vm.Script.prototype.runInContext = function guarded(this: vm.Script, context, options) {
    // G2: the context is lost.
    if (lost) throw new LostContextError(lost);
    try {
      return run.call(this, context, options);
    } catch (error) {
      if (isTimeout(error) || !drain(run, context, options)) lose(context);
      throw error;
    }
  } as RunInContext;
}

/** G1; false when the microtasks time out in turn. */
function drain(run: RunInContext, context: vm.Context, options: RunOptions | string | undefined): boolean {
  const given = typeof options === 'object' ? options.timeout : undefined;
  try {
    run.call(NOTHING, context, { timeout: given ?? DRAIN_TIMEOUT_MS });
    return true;
  } catch {
    return false;
  }
}

function isTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}

/** The SDK keeps the current workflow in a global of the context. */
function readCulprit(context: vm.Context): Culprit {
  const { info } = (context.__TEMPORAL_ACTIVATOR__ ?? {}) as { info?: Culprit };
  return { workflowId: info?.workflowId, runId: info?.runId };
}

/** Fails a workflow task, which the server then gives to another worker: the Web UI shows the message. */
export class LostContextError extends Error {
  override readonly name = 'LostContext';
  readonly code = 'LostContext';

  constructor({ workflowId = 'unknown' }: Culprit) {
    super(
      `The thread ${workflowId} computed longer than the worker's script timeout, and this worker's workflow context was given up. ` +
        'This task is tried again in a fresh one; nothing is lost.',
    );
  }
}
