/** The page while the worker of its thread is killed in the middle of answers: it shows what the log has, row by row. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type ServedApi, serveApi } from '../../src/cli/serve/serve-api.ts';
import { type Api, createApi } from '../../src/server/api/create-api.ts';
import { calls, hangs, says } from '../../src/testing/index.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { eventually } from '../support/runtime.ts';
import { killWorkers, standAt } from '../support/standing.ts';
import { browsing, click, equalsLog, fill, inBrowser, shows, textOf } from './browsed.ts';

const KILLS = 3;
const NEWER = join(import.meta.dirname, '..', 'support', 'newer-worker-process.ts');
const OTHER_VERSION = 'f'.repeat(16);

/** An API whose page is of another version. */
function ofOtherVersion(api: Api): Api {
  return {
    ...api,
    async fetch(request, source) {
      if (new URL(request.url).pathname !== '/ui') return api.fetch(request, source);
      // Without the request's headers: neither compressed, nor answered with 304.
      const response = await api.fetch(new Request(request.url), source);
      const headers = new Headers(response.headers);
      headers.set('etag', `"${OTHER_VERSION}"`);
      const html = await response.text();
      const version = /(<meta name="version" content=")\w+/;
      return new Response(html.replace(version, `$1${OTHER_VERSION}`), { headers });
    },
  };
}

inBrowser('the page of a thread whose worker is killed', () => {
  const open = browsing();
  const killed = new Set<string>();
  let cluster: Cluster;
  let served: ServedApi;
  /** Workers that start from now on are of a newer build. */
  let newer = false;

  beforeAll(async () => {
    cluster = await startCluster({
      get program() {
        return newer ? NEWER : undefined;
      },
      script: ({ messages }) => {
        if (messages.at(-1)?.role === 'tool') return says('I have seen to it.');
        if (messages.at(-1)?.content === 'pay') return calls('refund', { line: '1' });
        const said = String(messages.at(-1)?.content);
        return killed.has(said) ? says(`The whole of ${said}.`) : hangs({ after: `A part of ${said}` });
      },
    });
    await cluster.keep(1);
    served = await serveApi(createApi({ client: cluster.client }), { host: '127.0.0.1', port: 0 });
  }, 300_000);
  afterAll(async () => {
    await served?.close();
    await cluster?.close();
  });

  it(`strikes through what a lost worker had written, and equals the log after each of ${KILLS} kills`, async () => {
    const { threadId } = await cluster.client.startThread({ agent: 'clerk' });
    const page = await open(served.url, `#/threads/${threadId}/raw`, { width: 1400, height: 1600 });
    for (let n = 1; n <= KILLS; n += 1) {
      const said = `story ${n}`;
      await fill(page, '#send', said);
      await click(page, '[data-act=send]');
      await shows(page, `A part of ${said}`, '.live');
      const [worker] = cluster.workers;
      await worker?.end('SIGKILL');
      killed.add(said);
      await cluster.keep(1);
      await shows(page, `The whole of ${said}.`, '.scroller');
      await cluster.client.waitForIdle(threadId);
      await equalsLog(page, cluster.client, threadId);
      const struck = await page.evaluate(
        `[...document.querySelectorAll('del')].map(({ textContent }) => textContent)`,
      );
      expect(struck).toEqual(Array.from({ length: n }, (_, index) => `A part of story ${index + 1}`));
      const words = await page.evaluate(
        `[...document.querySelectorAll('.message .words')].map(({ textContent }) => textContent)`,
      );
      expect(words).toEqual(
        Array.from({ length: n }, (_, index) => [
          `story ${index + 1}`,
          `The whole of story ${index + 1}.`,
        ]).flat(),
      );
    }
  }, 300_000);

  it.each([
    ['done', true],
    ['not-done', false],
  ])(
    'lets a person say whether a call of a lost worker was %s',
    async (button, completed) => {
      const { client } = cluster;
      const threadId = await standAt(cluster, 'body_after', () => cluster.begin('pay', 'auditor'));
      await killWorkers(cluster);
      await cluster.keep(1);
      const page = await open(served.url, `#/threads/${threadId}/answers`);
      await shows(page, 'outcome is unknown', '[data-wait=reconcile]');
      await shows(page, 'line', '[data-wait=reconcile]');
      await fill(page, '[data-wait=reconcile] input', 'seen in the books');
      await click(page, `[data-act=${button}]`);
      await client.waitForIdle(threadId);
      await shows(page, 'I have seen to it.', '.scroller');
      await shows(page, 'refund answered', '[data-tab=answers]');
      const [wait] = await client.listWaits({ threadId, state: 'answered' });
      expect(wait?.answer).toMatchObject({ value: { completed, note: 'seen in the books' } });
      expect(cluster.ledger(threadId)).toEqual(['1']);
    },
    300_000,
  );

  it('goes on after a rolling update of server and workers, and says that there is a newer page', async () => {
    const { threadId } = await cluster.client.startThread({ agent: 'clerk' });
    const page = await open(served.url, `#/threads/${threadId}/raw`, { width: 1400, height: 1600 });
    await fill(page, '#send', 'the update');
    await click(page, '[data-act=send]');
    await shows(page, 'A part of the update', '.live');
    const port = Number(new URL(served.url).port);
    await served.close();
    await shows(page, 'The connection is lost');
    killed.add('the update');
    newer = true;
    const [older] = cluster.workers;
    await Promise.all([older?.end('SIGTERM'), cluster.keep(2)]);
    served = await serveApi(ofOtherVersion(createApi({ client: cluster.client })), {
      host: '127.0.0.1',
      port,
    });
    await shows(page, 'The whole of the update.', '.scroller');
    await shows(page, 'The server has a newer page', '.announcements');
    await cluster.client.waitForIdle(threadId);
    await equalsLog(page, cluster.client, threadId);
    await Promise.all([page.waitForNavigation(), click(page, '.announcements button')]);
    await shows(page, 'The whole of the update.', '.scroller');
    await eventually('nothing to announce', async () => (await textOf(page, '.announcements')) === '');
    await equalsLog(page, cluster.client, threadId);
  }, 300_000);
});
