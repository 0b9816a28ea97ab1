/** Checks whether a worker can work: the counterpart of `/readyz` of the HTTP API. */
import type { NativeConnection } from '@temporalio/worker';
import type { ThreadStore } from '../store/store.ts';

export interface WorkerReadiness {
  readonly ready: boolean;
  /** True if the store, or the Temporal server, answers in time. */
  readonly store: boolean;
  readonly temporal: boolean;
}

interface Place {
  readonly store: ThreadStore;
  readonly connection: Pick<NativeConnection, 'workflowService' | 'withDeadline'>;
  readonly leaving: AbortSignal;
}

const WITHIN_MS = 2000;

export async function readReadiness({ store: of, connection, leaving }: Place): Promise<WorkerReadiness> {
  const asked = connection.withDeadline(Date.now() + WITHIN_MS, () =>
    connection.workflowService.getSystemInfo({}),
  );
  const [store, temporal] = await Promise.all([answers(of.threads.list({ limit: 1 })), answers(asked)]);
  return { ready: store && temporal && !leaving.aborted, store, temporal };
}

async function answers(work: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), WITHIN_MS);
  const answered = work.then(
    () => true,
    () => false,
  );
  return Promise.race([answered, late.promise]).finally(() => clearTimeout(timer));
}
