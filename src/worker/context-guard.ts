/**
 * Runs in a workflow thread, around every entry into the V8 context that the threads share.
 * - If a script throws, Node leaves its microtasks in the context. They would run within the next entry, which may be
 *   another thread's: their commands would enter that thread's history (docs/sdk-context-timeout.md). They are run at
 *   once instead, while the thread that queued them is still current. Its task has failed, so their effects are
 *   discarded.
 * - The SDK gives each entry a timeout, for which Node starts and ends a thread every time: that took longer than the
 *   script itself. Entries run without one, and are watched from outside (`guarded-threads.ts`) by what this file
 *   notes in shared memory.
 */
import vm from 'node:vm';

/** The workflow whose script ran too long; the ids are undefined if they are not known. */
export interface Culprit {
  readonly workflowId?: string;
  readonly runId?: string;
}

type RunInContext = typeof vm.Script.prototype.runInContext;

const NOTHING = new vm.Script('undefined');
const WITHOUT_TIMEOUT = { displayErrors: true };
/** Bytes for the ids of the workflow whose script runs, as JSON; Temporal's ids have at most 1,000 characters. */
const IDS_BYTES = 8192;

/**
 * What a workflow thread notes of its entries, in memory that it shares with the thread that watches it. An entry
 * counts twice, when it begins and when it ends: while the count is odd, a script runs.
 */
export class EntryNote {
  readonly shared: SharedArrayBuffer;
  /** The count, and the number of bytes that the ids take. */
  readonly #numbers: Int32Array;
  readonly #ids: Uint8Array;

  constructor(shared = new SharedArrayBuffer(8 + IDS_BYTES)) {
    this.shared = shared;
    this.#numbers = new Int32Array(shared, 0, 2);
    this.#ids = new Uint8Array(shared, 8);
  }

  get count(): number {
    return Atomics.load(this.#numbers, 0);
  }

  countEntry(): void {
    Atomics.add(this.#numbers, 0, 1);
  }

  /** To be called between entries. */
  writeCulprit(culprit: Culprit): void {
    this.#numbers[1] = new TextEncoder().encodeInto(JSON.stringify(culprit), this.#ids).written;
  }

  /** To be called while an entry lasts. */
  readCulprit(): Culprit {
    const bytes = this.#ids.slice(0, this.#numbers[1]);
    return bytes.length === 0 ? {} : JSON.parse(new TextDecoder().decode(bytes));
  }
}

/** Installs the guard; call once per thread. */
export function guardContexts(note: EntryNote): void {
  const run: RunInContext = vm.Script.prototype.runInContext;
  let current: Scope | undefined;
  let known = false;
  vm.Script.prototype.runInContext = function guarded(this: vm.Script, context, options) {
    // The SDK's few scripts without a timeout, such as the evaluation of the bundle, may take longer.
    const watched = typeof options === 'object' && options.timeout !== undefined;
    if (watched) {
      const scope = scopeOf(context);
      if (scope !== current || !known) {
        const { workflowId, runId } = culpritOf(context, scope);
        note.writeCulprit({ workflowId, runId });
        current = scope;
        known = runId !== undefined;
      }
      note.countEntry();
    }
    try {
      return run.call(this, context, watched ? WITHOUT_TIMEOUT : options);
    } catch (error) {
      run.call(NOTHING, context);
      throw error;
    } finally {
      if (watched) note.countEntry();
    }
  } as RunInContext;
}

/** The globals of one workflow, which the SDK exchanges when another workflow enters the context. */
interface Scope {
  readonly bag: { readonly __TEMPORAL_ACTIVATOR__?: { readonly value?: Activator } };
}

interface Activator {
  readonly info?: Culprit;
}

function scopeOf(context: vm.Context): Scope | undefined {
  return context.__temporal_args?.[0];
}

/** A workflow that is being created has no activator yet. */
function culpritOf(context: vm.Context, scope: Scope | undefined): Culprit {
  const entered = scope === context.__TEMPORAL_BAG_HOLDER__;
  const activator: Activator | undefined = entered
    ? context.__TEMPORAL_ACTIVATOR__
    : scope?.bag.__TEMPORAL_ACTIVATOR__?.value;
  return activator?.info ?? {};
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
