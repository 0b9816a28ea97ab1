/** The API process of `everthread dev`, under supervision: endpoints of the project run in it, and not in the command's own process. */
import { extname } from 'node:path';
import { hideSecrets, type Secrets } from '../../secret-environment.ts';
import { supervise } from '../../supervisor/index.ts';
import type { FoundServer } from '../connection/find-server.ts';
import { createNewsLogger } from '../output/logger.ts';

/** Default port of the HTTP API. */
export const DEFAULT_PORT = 7777;

export interface ApiOrder {
  readonly projectDir: string;
  readonly taskQueue?: string | undefined;
  /** Port of the previous process, so that its readers can reconnect. */
  readonly port?: number | undefined;
  readonly secrets: Secrets;
}

export interface ReadyApi {
  /** `http://host:port`. */
  readonly url: string;
  readonly asksForTokens: boolean;
}

export interface SupervisedApi {
  readonly order: Pick<ApiOrder, 'projectDir' | 'taskQueue'>;
  /** Ends the process. */
  readonly stop: AbortSignal;
  /** Resolves when the process may read its project. */
  readonly server: () => Promise<FoundServer>;
  /** Called each time a process is ready. */
  readonly ready: (api: ReadyApi) => void;
}

const PROGRAM = new URL(`./api-program${extname(import.meta.url)}`, import.meta.url);

/** Resolves to the exit code, after the stop or when the process could not be started at all. */
export function superviseApi({ order, stop, server, ready }: SupervisedApi): Promise<number> {
  const logNews = createNewsLogger('API');
  let waiting = true;
  const asked: { -readonly [key in keyof ApiOrder]: ApiOrder[key] } = { ...order, secrets: hideSecrets() };
  return supervise<ApiOrder, FoundServer, ReadyApi>({
    program: PROGRAM,
    order: asked,
    server: () =>
      server().finally(() => {
        waiting = false;
      }),
    stop,
    ready(api) {
      asked.port = Number(new URL(api.url).port);
      ready(api);
    },
    // While the API waits for the worker, the worker reports what takes long.
    tell: (news) => (waiting && news.kind === 'slow' ? undefined : logNews(news)),
  });
}
