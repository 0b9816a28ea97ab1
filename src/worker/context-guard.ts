/**
 * Runs in a workflow thread, around every entry into the V8 context that the threads share. What Node leaves in a context
 * when a script does not end regularly are its microtasks, and they would run within the next entry, whichever
 * thread's that is: its commands would stand in a stranger's history (docs/sdk-context-timeout.md).
 * G1  After a script that threw, its microtasks run at once, while the thread that queued them is still the one at work. Its
 *     task has failed, so what they do goes nowhere.
 * G2  A script that was ended by the timeout stopped anywhere, without its `finally`: nothing enters that context again.
 */
import vm from 'node:vm';

/** Whose script ran into the timeout; unknown where not even that could be read. */
export interface Culprit {
  readonly workflowId?: string;
  readonly runId?: string;
}

type RunInContext = typeof vm.Script.prototype.runInContext;
type RunOptions = Exclude<Parameters<RunInContext>[1], undefined>;

const NOTHING = new vm.Script('undefined');
/** Of the SDK's few scripts without a timeout of their own. */
const DRAIN_TIMEOUT_MS = 1000;

/** Once per thread. `tell` hears of the timeout before anybody hears of the task that failed by it. */
export function guardContexts(tell: (culprit: Culprit) => void): void {
  const run: RunInContext = vm.Script.prototype.runInContext;
  let lost: Culprit | undefined;
  const lose = (context: vm.Context) => {
    lost = readCulprit(context);
    tell(lost);
  };
  vm.Script.prototype.runInContext = function guarded(this: vm.Script, context, options) {
    // G2
    if (lost) throw new LostContextError(lost);
    try {
      return run.call(this, context, options);
    } catch (error) {
      if (isTimeout(error) || !drain(run, context, options)) lose(context);
      throw error;
    }
  } as RunInContext;
}

/** G1. False when they run into the timeout in turn. */
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

/** The SDK keeps who is at work as a global of the context. */
function readCulprit(context: vm.Context): Culprit {
  const { info } = (context.__TEMPORAL_ACTIVATOR__ ?? {}) as { info?: Culprit };
  return { workflowId: info?.workflowId, runId: info?.runId };
}

/** Fails a workflow task, which the server gives to whoever asks next: its message is read in the Web UI. */
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
