/**
 * The API process of `everthread dev`: a separate program under supervision (worker/program.ts).
 * - Changed definitions are loaded without a restart, so that no reader is cut off. The worker process reports their
 *   problems; this one waits until they are fixed.
 * - The API's port stays the same over restarts. Initially it is the usual port, or a free one if another program has
 *   that.
 * - At a stop, open requests are awaited, but only briefly: a request may be waiting for a thread.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Api } from '../../server/api/create-api.ts';
import { DEV_ORIGINS } from '../../server/api/cross-origin.ts';
import { findFreePorts, LOOPBACK } from '../../temporal-service/free-port.ts';
import { openWhenFixed, watchAgents } from '../project/watch-agents.ts';
import { type ProgramContext, runProgram, sendToSupervisor } from '../worker/program.ts';
import { openProjectApi } from './project-api.ts';
import { type ServedApi, serveApi } from './serve-api.ts';
import { type ApiOrder, DEFAULT_PORT, type ReadyApi } from './supervised-api.ts';

/** Number of free ports tried: one may be taken by another program before it is listened on. */
const PORTS_TRIED = 5;
const CLOSE_WITHIN_MS = 3000;

async function serve({ order, server, stop }: ProgramContext<ApiOrder>): Promise<void> {
  const { projectDir, taskQueue, port } = order;
  sendToSupervisor({ kind: 'loaded' });
  const stopped = new Promise<null>((resolve) => {
    stop.addEventListener('abort', () => resolve(null), { once: true });
    if (stop.aborted) resolve(null);
  });
  const found = await Promise.race([server, stopped]);
  if (found === null) return;
  sendToSupervisor({ kind: 'doing', what: 'opening its project' });
  // The worker has loaded the project, but it may have been broken since then.
  const live = await openWhenFixed({
    projectDir,
    stop,
    problems: () => sendToSupervisor({ kind: 'unmended' }),
    quiet: true,
  });
  if (live === undefined) return;
  sendToSupervisor({ kind: 'doing', what: 'opening the store of its project' });
  const opened = await openProjectApi({
    project: projectDir,
    taskQueue,
    server: found,
    live,
    origins: DEV_ORIGINS,
  });
  try {
    const served = await listen(opened.api, port);
    const { project, asksForTokens } = opened;
    // Definitions that cannot be loaded do not replace the previous ones.
    const changed = (signal: AbortSignal) => project.reload(signal).catch(() => undefined);
    const failed = () => undefined;
    const { loadedAt: since, files } = project;
    const watcher = watchAgents({ projectDir, since, files, changed, failed });
    const ready: ReadyApi = { url: served.url, asksForTokens };
    sendToSupervisor({ kind: 'ready', ready });
    await stopped;
    await watcher.close();
    // Requests still open after this end with the process.
    await Promise.race([served.close(), delay(CLOSE_WITHIN_MS, undefined, { ref: false })]);
  } finally {
    await opened.close();
  }
}

/** Listens at the usual port or a free one. Throws `InvalidConfiguration` if all are taken. */
async function listen(api: Api, usual = DEFAULT_PORT): Promise<ServedApi> {
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
