/** The page while the worker of its thread is killed in the middle of answers: it shows what the log has, row by row. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type ServedApi, serveApi } from '../../src/cli/serve/serve-api.ts';
import { createApi } from '../../src/server/api/create-api.ts';
import { hangs, says } from '../../src/testing/index.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { browsing, click, equalsLog, fill, inBrowser, shows } from './browsed.ts';

const KILLS = 3;

inBrowser('the page of a thread whose worker is killed', () => {
  const open = browsing();
  const killed = new Set<string>();
  let cluster: Cluster;
  let served: ServedApi;

  beforeAll(async () => {
    cluster = await startCluster({
      script: ({ messages }) => {
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
});
