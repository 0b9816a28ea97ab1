/** `everthread api`: the HTTP API of a project's threads, until Ctrl-C. */
import { InvalidArgumentError } from 'commander';
import { RuntimeError } from '../../core/value/error.ts';
import { isLoopback } from '../../server/api/access.ts';
import { command, option, TASK_QUEUE } from '../command.ts';
import { withInterruption } from '../interruption.ts';
import { note, printJsonLine, printLine } from '../output/output.ts';
import { DEFAULT_PORT } from '../serve/supervised-api.ts';

export const api = command({
  envFile: 'announced',
  description:
    'Serves /v1, /api for clients of Standard Agents (docs/http.md), and the endpoints of agents/api until Ctrl-C, beside workers that run elsewhere or in "everthread dev". ' +
    '/openapi.json describes it.',
  options: {
    host: option('<name>', 'address to listen on', undefined, '127.0.0.1'),
    port: option('<n>', 'port; 0 for any free one', parsePort, DEFAULT_PORT),
    ...TASK_QUEUE,
  },
  help: `
Tokens: "everthread tokens create", or EVERTHREAD_API_TOKENS=TOKEN[=scope+scope][@user],…   scopes: read, write, answer, admin (default: all)
Without tokens it only answers requests from this machine. Web pages of other origins: EVERTHREAD_API_ORIGINS=https://app.example,…

Examples:
  everthread api
  EVERTHREAD_API_TOKENS=$(openssl rand -hex 24) everthread api --host 0.0.0.0
  curl localhost:7777/v1/threads
  curl -N -H 'Accept: text/event-stream' localhost:7777/v1/threads/THREAD/events`,
  async run({ project, taskQueue, host, port, json = false }) {
    return withInterruption(async (interruption) => {
      const { openProjectApi } = await import('../serve/project-api.ts');
      const opened = await openProjectApi({ project, taskQueue });
      try {
        requireTokens(opened.asksForTokens, host);
        const { serveApi } = await import('../serve/serve-api.ts');
        const served = await serveApi(opened.api, { host, port });
        interruption.begin();
        const { asksForTokens: tokens, publicUrl } = opened;
        if (json) printJsonLine({ event: 'ready', url: served.url, publicUrl, tokens });
        else {
          const url = publicUrl?.replace(/\/+$/, '') ?? served.url;
          printLine(`Page: ${url}/ui (see and steer threads)`);
          printLine(`Serving ${url}/v1 (${url}/openapi.json describes it),`);
          printLine(`and ${url}/api for clients of Standard Agents.`);
          if (publicUrl) printLine(`It listens at ${served.url}.`);
        }
        if (!tokens)
          note('There are no tokens: anyone who can reach this port on this machine has full access.');
        await waitForAbort(interruption.signal);
        await served.close();
      } finally {
        await opened.close();
      }
      note('Stopped.');
      return 0;
    }, 'Stopping: running requests are finished');
  },
});

/** Throws `InvalidConfiguration`. */
function requireTokens(asked: boolean, host: string): void {
  if (asked || isLoopback(host)) return;
  throw new RuntimeError(
    'InvalidConfiguration',
    `Without tokens the API only listens on this machine, not on ${host}: create a token with "everthread tokens create", set EVERTHREAD_API_TOKENS, or omit --host.`,
  );
}

function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('Give a port, 0 to 65535.');
}
