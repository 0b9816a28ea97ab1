/**
 * The API process of `everthread dev`: a program of its own under supervision (worker/program.ts).
 * A1. Changed definitions are taken over without a restart, so that no reader is cut off; what is wrong with them the worker process tells,
 *     and this one waits until it is mended.
 * A2. Where it listens stays the same over restarts. At first that is the usual port, or a free one where another program has it.
 * A3. What is being answered when it is to stop is waited for, though not for long: a request may wait for a thread.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { readConfiguration } from '../../configuration.ts';
import type { Api } from '../../server/api/create-api.ts';
import { findFreePorts, LOOPBACK } from '../../temporal-service/free-port.ts';
import { openMended } from '../project/open-mended.ts';
import { watchAgents } from '../project/watch-agents.ts';
import { runProgram, type Told, tell } from '../worker/program.ts';
import { USUAL_PORT } from './api-port.ts';
import { openProjectApi } from './project-api.ts';
import { type ServedApi, serveApi } from './serve-api.ts';
import type { ApiOrder, ReadyApi } from './supervised-api.ts';

/** A port that was free may be taken by the time that it is listened at. */
const PORTS_TRIED = 5;
const CLOSE_WITHIN_MS = 3000;

async function serve({ order, server, stop }: Told<ApiOrder>): Promise<void> {
  const { projectDir, taskQueue, port } = order;
  const { apiTokens } = readConfiguration();
  tell({ kind: 'loaded' });
  const stopped = new Promise<null>((resolve) => {
    stop.addEventListener('abort', () => resolve(null), { once: true });
    if (stop.aborted) resolve(null);
  });
  const found = await Promise.race([server, stopped]);
  if (found === null) return;
  tell({ kind: 'doing', what: 'opening its project' });
  // A1: it was in order a moment ago, and may be broken now.
  const live = await openMended({
    projectDir,
    stop,
    problems: () => tell({ kind: 'unmended' }),
    quiet: true,
  });
  if (live === undefined) return;
  tell({ kind: 'doing', what: 'opening the store of its project' });
  const opened = await openProjectApi({
    project: projectDir,
    taskQueue,
    tokens: apiTokens,
    server: found,
    live,
  });
  try {
    const served = await listen(opened.api, port);
    const { project, asksForTokens } = opened;
    // A1: what cannot be loaded leaves the definitions from before.
    const changed = () => project.reload().catch(() => undefined);
    const failed = () => undefined;
    const watcher = watchAgents({ projectDir, since: project.loadedAt, changed, failed });
    const ready: ReadyApi = { url: served.url, asksForTokens };
    tell({ kind: 'ready', ready });
    await stopped;
    await watcher.close();
    // A3: the process ends with it.
    await Promise.race([served.close(), delay(CLOSE_WITHIN_MS, undefined, { ref: false })]);
  } finally {
    await opened.close();
  }
}

/** A2. Throws `InvalidConfiguration`. */
async function listen(api: Api, usual = USUAL_PORT): Promise<ServedApi> {
  const free = await findFreePorts(PORTS_TRIED);
  let failure: unknown;
  for (const each of [usual, ...free]) {
    try {
      return await serveApi(api, { host: LOOPBACK, port: each });
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

await runProgram(serve);
