/**
 * The demo's agents, used from the page alone while their workers are killed: after every kill the page shows what the
 * log has, row by row.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'puppeteer-core';
import { type ServedApi, serveApi } from '../../src/cli/serve/serve-api.ts';
import { createApi } from '../../src/server/api/create-api.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { isLong } from '../support/long-form.ts';
import { eventually } from '../support/runtime.ts';
import { browsing, click, countOf, equalsLog, fill, inBrowser, shows } from './browsed.ts';

const REFUNDS = isLong ? 6 : 1;
const QUESTION = 'When may we release? Who answers on a Sunday?';

inBrowser('the page of agents whose workers are killed', () => {
  const open = browsing();
  const folder = process.env.EVERTHREAD_TEST_FOLDER as string;
  let cluster: Cluster;
  let served: ServedApi;

  beforeAll(async () => {
    cluster = await startCluster({
      program: new URL('../support/demo-worker.ts', import.meta.url).pathname,
      environment: { EVERTHREAD_DEMO_CHUNK_DELAY_MS: '60', EVERTHREAD_DEMO_FOLDER: folder },
    });
    await cluster.keep(1);
    served = await serveApi(createApi({ client: cluster.client }), { host: '127.0.0.1', port: 0 });
  }, 300_000);
  afterAll(async () => {
    await served?.close();
    await cluster?.close();
  });

  const kill = async () => {
    await cluster.workers[0]?.end('SIGKILL');
  };
  const openThread = async (agent: string) => {
    const { threadId } = await cluster.client.startThread({ agent });
    const page = await open(served.url, `#/threads/${threadId}/raw`, { width: 1400, height: 1600 });
    const send = async (text: string) => {
      await fill(page, '#send', text);
      await click(page, '[data-act=send]');
    };
    return { threadId, page, send, isLog: () => equalsLog(page, cluster.client, threadId) };
  };
  const messagesOf = async (page: Page) =>
    (await page.evaluate(
      `[...document.querySelectorAll('.message .words')].map(({ textContent }) => textContent)`,
    )) as string[];

  it('refunds once what was approved while no worker was there', async () => {
    const { threadId, page, send, isLog } = await openThread('cashier');
    for (let n = 1; n <= REFUNDS; n += 1) {
      await send(`Refund ${n} euros for LF-220${n}.`);
      await shows(page, `LF-220${n}`, '[data-wait=approval]');
      await kill();
      await isLog();
      await click(page, '[data-act=approve]');
      await eventually('the answer', async () => (await countOf(page, '[data-wait]')) === 0);
      await isLog();
      await cluster.keep(1);
      // While the model tells of it.
      await shows(page, 'It is', '.live');
      await kill();
      await isLog();
      await cluster.keep(1);
      await cluster.client.waitForIdle(threadId);
      await isLog();
    }
    const stored = (await cluster.messages(threadId)).filter(
      ({ role, content }) => role !== 'tool' && content,
    );
    await shows(page, stored.at(-1)?.content ?? '', '.scroller');
    // Those in view.
    const shown = await messagesOf(page);
    expect(shown).toEqual(stored.map(({ content }) => content).slice(-shown.length));
    expect(shown.length).toBeGreaterThan(1);
    const paid = await readFile(join(folder, 'refunds.md'), 'utf8');
    expect(paid.split('\n').filter((line) => line.includes(threadId))).toHaveLength(REFUNDS);
    const states = `[...document.querySelectorAll('[data-tool]')].map(({ dataset }) => [dataset.tool, dataset.state].join(' '))`;
    expect(await page.evaluate(states)).toEqual(Array.from({ length: REFUNDS }, () => 'refund_fare success'));
  }, 300_000);

  it('shows researchers in place, whose worker is killed while they speak, and the brief', async () => {
    const { threadId, page, send, isLog } = await openThread('coordinator');
    await send(QUESTION);
    await eventually('two researchers', async () => {
      await page.evaluate(
        `document.querySelectorAll('.subagent:not([open]) > summary').forEach((each) => each.click())`,
      );
      return (await countOf(page, '.subagent[open]')) >= 2;
    });
    await eventually('one speaks', async () => (await countOf(page, '.subagent .live .words')) > 0);
    await kill();
    await isLog();
    await cluster.keep(1);
    await shows(page, 'session', '.scroller');
    await cluster.client.waitForIdle(threadId);
    await isLog();
    let compared = 0;
    for (const { thread } of await cluster.client.getFamily(threadId)) {
      const inside = `[data-subagent="${thread.id}"]`;
      if (thread.id === threadId || (await countOf(page, `${inside}[open]`)) === 0) continue;
      const said = (await cluster.messages(thread.id)).filter(
        ({ role, content }) => role !== 'tool' && content,
      );
      await shows(page, said.at(-1)?.content?.slice(0, 60) ?? '', inside);
      compared += 1;
    }
    // Another one may be out of view.
    expect(compared).toBeGreaterThan(0);
  }, 300_000);
});
