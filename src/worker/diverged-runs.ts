/**
 * Begins a thread's workflow run anew if its history cannot be replayed: without that, its workflow task fails at every
 * attempt, until a person resets it. The store has all that the thread is, so the run is reset to its first workflow
 * task: it continues from the store, and the server sends the signals of the old run to the new one, which takes none
 * of them twice.
 * - A history diverges if the build decides differently from the one that wrote it, or by a fault of the SDK
 *   (docs/sdk-queries.md).
 * - Two workers may reset one run: the request's id is that of the run, so the server does it once.
 */
import type { NativeConnection } from '@temporalio/worker';
import { errorMessage } from '../core/value/error.ts';

export interface DivergedRun {
  readonly workflowId: string;
  readonly runId: string;
}

export interface ResetInput {
  readonly connection: NativeConnection;
  readonly namespace: string;
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
}

/** One workflow is reset once in this time: builds that diverge from each other do not reset it in turns. */
const PAUSE_MS = 60_000;
const WORKFLOWS_KEPT = 1000;

export class DivergedRuns {
  readonly #input: ResetInput;
  /** Times of the last resets by workflow id, oldest first. */
  readonly #resets = new Map<string, number>();

  constructor(input: ResetInput) {
    this.#input = input;
  }

  /** Never rejects. The server repeats the task later, and this is called again. */
  async reset(run: DivergedRun, detail: string): Promise<void> {
    const { warn } = this.#input;
    if (!this.#mayReset(run.workflowId)) return;
    try {
      const reset = await this.#resetToStart(run);
      if (reset)
        warn('The history of a thread cannot be replayed: its run begins anew from the store', {
          ...run,
          detail,
        });
    } catch (error) {
      warn('The history of a thread cannot be replayed, and its run could not be reset', {
        ...run,
        detail,
        error: errorMessage(error),
      });
    }
  }

  #mayReset(workflowId: string): boolean {
    const now = Date.now();
    const last = this.#resets.get(workflowId);
    if (last !== undefined && now - last < PAUSE_MS) return false;
    this.#resets.delete(workflowId);
    this.#resets.set(workflowId, now);
    const [oldest] = this.#resets.keys();
    if (this.#resets.size > WORKFLOWS_KEPT && oldest !== undefined) this.#resets.delete(oldest);
    return true;
  }

  /** False if the run has not completed a workflow task. */
  async #resetToStart({ workflowId, runId }: DivergedRun): Promise<boolean> {
    const { connection, namespace } = this.#input;
    const workflowExecution = { workflowId, runId };
    let nextPageToken: Uint8Array | undefined;
    do {
      const page = await connection.workflowService.getWorkflowExecutionHistory({
        namespace,
        execution: workflowExecution,
        nextPageToken,
      });
      const first = page.history?.events?.find((event) => event.workflowTaskCompletedEventAttributes);
      if (first) {
        await connection.workflowService.resetWorkflowExecution({
          namespace,
          workflowExecution,
          workflowTaskFinishEventId: first.eventId,
          requestId: runId,
          reason: 'its history cannot be replayed',
        });
        return true;
      }
      ({ nextPageToken } = page);
    } while (nextPageToken?.length);
    return false;
  }
}
