/**
 * Tasks as responses: as one answer that is waited for, or as a stream. An envelope makes of each what its binding wants: JSON-RPC or REST.
 * Leaving one stops nothing.
 */
import { storeOf } from '../../../client/client-store.ts';
import type { A2aFrame, A2aPart, A2aTask } from '../../../projections/a2a/a2a-shape.ts';
import type { ApiHost } from '../host.ts';
import { SAFE_HEADERS } from '../problem.ts';
import { signAddress } from '../signed-address.ts';
import { pulled, withPulse } from '../stream.ts';
import { enterStream, KEEP_ALIVE_MS } from '../stream-place.ts';
import { type ReadTask, readTask, taskPages } from './task-reading.ts';

export interface Respond {
  readonly host: ApiHost;
  readonly request: Request;
  readonly type: string;
  /** What a binding puts around what it answers. */
  readonly wrap: (answer: unknown) => unknown;
}

/** Seconds that an address of a file holds. */
const HOUR = 3600;

/** The task as of when it has ended or waits for a person; as it stands where the connection is too old to wait on. */
export function whenAtRest(
  { host, request, type, wrap }: Respond,
  asked: Omit<ReadTask, 'until' | 'signal'>,
  toAnswer: (task: A2aTask) => object,
): Response {
  const place = enterStream(host.streams, asked.thread.id);
  const signal = AbortSignal.any([place.signal, request.signal]);
  const pages = taskPages(host.client, { ...asked, until: 'rest', signal });
  async function* lines() {
    let task: A2aTask | undefined;
    // Spaces before JSON: who waits for headers or bytes gives up otherwise.
    yield ' ';
    for await (const page of withPulse(pages, KEEP_ALIVE_MS, signal)) {
      if (page === 'pulse') yield ' ';
      else task = page.task;
    }
    // Ended before anything was read: by its age, or with the server.
    if (!request.signal.aborted) task ??= await readTask(host.client, asked);
    if (task) yield JSON.stringify(wrap(toAnswer(await addressed(host, request, task))));
  }
  return new Response(pulled(lines(), place.leave), { headers: { 'content-type': type, ...SAFE_HEADERS } });
}

/** The task, then what happens to it. */
export function taskStream({ host, request, wrap }: Respond, asked: Omit<ReadTask, 'signal'>): Response {
  const place = enterStream(host.streams, asked.thread.id);
  const signal = AbortSignal.any([place.signal, request.signal]);
  const pages = taskPages(host.client, { ...asked, signal });
  async function* frames() {
    yield ': stream-open\n\n';
    for await (const page of withPulse(pages, KEEP_ALIVE_MS, signal)) {
      if (page === 'pulse') yield ': keep-alive\n\n';
      else
        for (const { cursor, frame } of page.frames)
          yield `id: ${cursor}\ndata: ${JSON.stringify(wrap(await addressed(host, request, frame)))}\n\n`;
    }
  }
  return new Response(pulled(frames(), place.leave), {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    },
  });
}

/** With addresses of files in place of their paths: they need no token, for an hour. */
export async function addressed<Told extends A2aFrame | A2aTask>(
  { client }: ApiHost,
  request: Request,
  told: Told,
): Promise<Told> {
  const files = partsOf(told).filter(({ url }) => url?.startsWith('/'));
  if (files.length === 0) return told;
  const threadId = contextOf(told);
  const expires = Math.floor(Date.now() / 1000) + HOUR;
  const { origin } = new URL(request.url);
  const copy = structuredClone(told);
  for (const part of partsOf(copy) as { url?: string }[])
    if (part.url?.startsWith('/')) {
      const address = await signAddress(storeOf(client).tokens, { threadId, path: part.url, expires });
      part.url = origin + address;
    }
  return copy;
}

function partsOf(told: A2aFrame | A2aTask): readonly A2aPart[] {
  if ('task' in told) return partsOf(told.task);
  if ('artifactUpdate' in told) return told.artifactUpdate.artifact.parts;
  if ('statusUpdate' in told) return [];
  return [...told.artifacts, ...told.history].flatMap(({ parts }) => parts);
}

function contextOf(told: A2aFrame | A2aTask): string {
  if ('task' in told) return told.task.contextId;
  if ('artifactUpdate' in told) return told.artifactUpdate.contextId;
  return 'statusUpdate' in told ? told.statusUpdate.contextId : told.contextId;
}
