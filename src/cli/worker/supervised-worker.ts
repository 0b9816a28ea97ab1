/** What `everthread worker` and `everthread dev` share: a worker process under supervision, and its messages to people. */
import { extname } from 'node:path';
import { readConfiguration } from '../../configuration.ts';
import { hideSecrets, type Secrets } from '../../secret-environment.ts';
import { type SupervisorNews, supervise } from '../../supervisor/index.ts';
import type { FoundServer } from '../connection/find-server.ts';
import type { Interruption } from '../interruption.ts';
import { createLogger, type WorkerLogger } from '../output/logger.ts';

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
  const logger = createLogger(readConfiguration().log);
  return supervise<WorkerOrder, FoundServer, ReadyWorker>({
    program: PROGRAM,
    order: { ...order, secrets: hideSecrets() },
    server,
    stop: interruption.signal,
    ready(worker) {
      interruption.begin();
      ready(worker);
    },
    tell: (news) => tellNews(logger, news),
  });
}

function tellNews(logger: WorkerLogger, news: SupervisorNews): void {
  if (news.kind === 'culprit') {
    const { code, name, threadId, work, stack } = news.culprit;
    logger.error(`${code} "${name}" has taken its worker process down: ${news.how}`, {
      threadId,
      work,
      stack,
    });
    return;
  }
  if (news.kind === 'slow') {
    logger.warn(`The worker is not ready after ${Math.round(news.forMs / 1000)} s: it is ${news.doing}`);
    return;
  }
  const { pid, how, againInMs } = news;
  logger.error(`Worker process ${pid} has ended (${how}): it is started again in ${againInMs / 1000} s`);
}
