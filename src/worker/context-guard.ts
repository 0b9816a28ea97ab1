/**
 * Runs in a workflow thread, around every entry into the V8 context that the threads share. If a script throws or times
 * out, Node leaves its microtasks in the context. They would run within the next entry, which may be another thread's:
 * their commands would enter that thread's history (docs/sdk-context-timeout.md).
 * - After a script that threw, its microtasks run at once, while the thread that queued them is still current. Its
 *   task has failed, so their effects are discarded.
 * - After a script that timed out, the context is not entered again. The script stopped at an arbitrary point, and
 *   its `finally` blocks did not run.
 */
import vm from 'node:vm';

/** The workflow whose script timed out; the ids are undefined if they could not be read. */
export interface Culprit {
  readonly workflowId?: string;
  readonly runId?: string;
}

type RunInContext = typeof vm.Script.prototype.runInContext;
type RunOptions = Exclude<Parameters<RunInContext>[1], undefined>;

const NOTHING = new vm.Script('undefined');
/** Timeout for draining after one of the SDK's few scripts that have no timeout. */
const DRAIN_TIMEOUT_MS = 1000;

/** Installs the guard; call once per thread. `tell` is called before the failure of the task is reported. */
export function guardContexts(report: (culprit: Culprit) => void): void {
  const run: RunInContext = vm.Script.prototype.runInContext;
  let lost: Culprit | undefined;
  const lose = (context: vm.Context) => {
    lost = readCulprit(context);
    report(lost);
  };
  vm.Script.prototype.runInContext = function guarded(this: vm.Script, context, options) {
    if (lost) throw new LostContextError(lost);
    try {
      return run.call(this, context, options);
    } catch (error) {
      if (isTimeout(error) || !drain(run, context, options)) lose(context);
      throw error;
    }
  } as RunInContext;
}

/** Runs the remaining microtasks; false if they time out as well. */
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

/** Fails a workflow task, which the server then dispatches again. The Web UI shows the message. */
export class LostContextError extends Error {
  override readonly name = 'LostContext';
  readonly code = 'LostContext';

  constructor({ workflowId = 'unknown' }: Culprit) {
    super(
      `The thread ${workflowId} computed longer than the worker's script timeout, and this worker's workflow context was discarded. ` +
        'This task is retried in a new one; nothing is lost.',
    );
  }
}
