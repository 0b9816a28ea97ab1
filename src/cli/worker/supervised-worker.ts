/** What `everthread worker` and `everthread dev` share: a worker process under supervision, and its messages to people. */
import { extname } from 'node:path';
import { hideSecrets, type Secrets } from '../../secret-environment.ts';
import { supervise } from '../../supervisor/index.ts';
import type { FoundServer } from '../connection/find-server.ts';
import type { Interruption } from '../interruption.ts';
import { newsTeller } from '../output/supervisor-news.ts';

export interface WorkerOrder {
  readonly projectDir: string;
  readonly taskQueue?: string;
  readonly json: boolean;
  /** Reloads changes of the project. */
  readonly watch: boolean;
  readonly secrets: Secrets;
}

export interface ReadyWorker {
  readonly storeId: string;
  readonly taskQueue: string;
  readonly agents: readonly string[];
}

export interface SupervisedWorker {
  readonly order: Omit<WorkerOrder, 'secrets'>;
  readonly interruption: Interruption;
  readonly server: () => Promise<FoundServer>;
  readonly ready: (worker: ReadyWorker) => void;
}

const PROGRAM = new URL(`./worker-program${extname(import.meta.url)}`, import.meta.url);

/** Resolves to the exit code, after the first signal or when the process could not be started at all. */
export function superviseWorker({ order, interruption, server, ready }: SupervisedWorker): Promise<number> {
  return supervise<WorkerOrder, FoundServer, ReadyWorker>({
    program: PROGRAM,
    order: { ...order, secrets: hideSecrets() },
    server,
    stop: interruption.signal,
    ready(worker) {
      interruption.begin();
      ready(worker);
    },
    tell: newsTeller('worker'),
  });
}
