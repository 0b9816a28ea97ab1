/** What the scenarios with a page in a browser have in common: the browser, and an answer whose worker is killed. */
import type { Page } from 'puppeteer-core';
import type { Message } from '../../src/core/message/message.ts';
import { findBrowser, openBrowser, openPage } from '../web/browser.ts';
import { createNarrator } from './narrator.ts';
import type { Finding } from './promise.ts';
import { interruptAnswer } from './story.ts';
import type { Theatre } from './theatre.ts';
import { ThreadLog } from './thread-log.ts';

export const MODEL_MS = 180_000;

export interface CutAnswer {
  readonly messages: readonly Message[];
  readonly findings: readonly Finding[];
}

/** Kills the worker in the middle of the answer, and waits until the thread is at rest and the log tells of it. */
export async function playCutAnswer(theatre: Theatre): Promise<CutAnswer> {
  const { screen, client, threadId, stack, first } = theatre;
  const log = new ThreadLog(client, threadId, createNarrator(screen, client, threadId));
  stack.defer(() => log.close());
  const stage = { ...theatre, log, early: false };
  const cut = await Promise.race([interruptAnswer(stage, first), theatre.failure]);
  await Promise.race([client.waitForIdle(threadId, { timeoutMs: MODEL_MS }), theatre.failure]);
  const { lastSeq } = await client.getThread(threadId);
  const isTold = () => (log.events.at(-1)?.seq ?? 0) >= lastSeq || undefined;
  await log.until('the log tells of it', isTold, MODEL_MS);
  const { messages } = await client.getMessages(threadId, { limit: 1000 });
  return { messages, findings: checkThread(log, cut !== undefined) };
}

function checkThread({ events }: ThreadLog, wasCut: boolean): Finding[] {
  const count = (type: string) => events.filter((event) => event.type === type).length;
  return [
    {
      kept: count('execution.started') === 1 && count('execution.ended') === 1,
      text: `one question, one execution${wasCut ? ', and one worker less' : ''}`,
    },
  ];
}

/** Opens the page in a browser of this machine; undefined if there is none. */
export async function openInBrowser({ stack, screen }: Theatre, address: string): Promise<Page | undefined> {
  const program = findBrowser();
  if (program === undefined) return undefined;
  const browser = await openBrowser(program);
  stack.defer(() => browser.close());
  const page = await openPage(browser, address);
  await page.setViewport({ width: 900, height: 700 });
  screen.say('note', `${await browser.version()} has it open, without a window`);
  return page;
}

export async function until(
  what: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  check: () => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await check())) {
    signal?.throwIfAborted();
    if (performance.now() > deadline) throw new Error(`Not within ${timeoutMs / 1000} s: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
