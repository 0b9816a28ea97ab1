/** A worker under supervision: it stores the deaths of earlier processes, and runs suspects in lone processes. */
import type { ActivityDependencies } from '../activities/base/dependencies.ts';
import type { RecordedDeath } from '../store/tool/tool-record.ts';
import { createRunAlone, type LoneWorker } from './lone-process.ts';

export interface WorkerSupervision extends Pick<LoneWorker, 'place' | 'program'> {
  /** The deaths of earlier processes that are not stored yet. */
  readonly deaths: readonly RecordedDeath[];
}

type SupervisedPorts = Pick<ActivityDependencies, 'alone' | 'suspects'>;

/** Called before the worker takes work, because the stored strikes decide which units run in a lone process. */
export async function openSupervision(
  supervision: WorkerSupervision | undefined,
  worker: Omit<LoneWorker, 'place' | 'program'>,
): Promise<SupervisedPorts> {
  if (!supervision) return {};
  const { deaths, ...lone } = supervision;
  await worker.store.strikes.recordDeaths(deaths);
  const units = deaths.flatMap(({ culprit, suspects }) => (culprit ? [culprit, ...suspects] : suspects));
  return {
    alone: createRunAlone({ ...worker, ...lone }),
    suspects: new Set(units.map(({ work }) => work)),
  };
}
