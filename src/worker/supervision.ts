/** What a worker does where somebody watches its process: it stores what fell before it, and runs suspects in processes of their own. */
import type { ActivityDependencies } from '../activities/base/dependencies.ts';
import type { RecordedDeath } from '../store/port/thread-store.ts';
import { createRunAlone, type LoneWorker } from './lone-process.ts';
import type { LonePlace } from './lone-protocol.ts';

export interface WorkerSupervision {
  /** What was the matter with the processes before this one. */
  readonly deaths: readonly RecordedDeath[];
  readonly place: LonePlace;
}

type Supervised = Pick<ActivityDependencies, 'alone' | 'suspects'>;

/** Before the worker takes work: some of it may be what is stored here. */
export async function underSupervision(
  supervision: WorkerSupervision | undefined,
  worker: Omit<LoneWorker, 'place'>,
): Promise<Supervised> {
  if (!supervision) return {};
  const { deaths, place } = supervision;
  await worker.store.recordDeaths(deaths);
  const units = deaths.flatMap(({ culprit, suspects }) => (culprit ? [culprit, ...suspects] : suspects));
  return {
    alone: createRunAlone({ ...worker, place }),
    suspects: new Set(units.map(({ work }) => work)),
  };
}
