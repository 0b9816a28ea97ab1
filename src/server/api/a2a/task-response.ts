/**
 * Responses with a task: one answer once the task has ended or waits, or a stream. `wrap` adds the envelope of the
 * binding, JSON-RPC or REST. A client that disconnects stops nothing.
 */
import type { A2aFrame, A2aPart, A2aTask } from '../../../projections/a2a/a2a-shape.ts';
import type { ApiHost } from '../host.ts';
import { SAFE_HEADERS } from '../problem.ts';
import { fileAddresses } from '../signed-address.ts';
import { toPullStream, withPulse } from '../stream.ts';
import { enterStream, KEEP_ALIVE_MS } from '../stream-place.ts';
import type { ListedTask } from './task-list.ts';
import { type ReadTask, readTask, taskPages } from './task-reading.ts';

export interface ResponseContext {
  readonly host: ApiHost;
  readonly request: Request;
  readonly type: string;
  /** Adds the envelope of the binding to an answer. */
  readonly wrap: (answer: unknown) => unknown;
}

/** Answers with the task once it has ended or waits for a person, or as it is when the connection gets too old. */
export function respondAtRest(
  { host, request, type, wrap }: ResponseContext,
  asked: Omit<ReadTask, 'until' | 'signal'>,
  toAnswer: (task: A2aTask) => object,
): Response {
  const place = enterStream(host.streams, asked.thread.id);
  const signal = AbortSignal.any([place.signal, request.signal]);
  const pages = taskPages(host.client, { ...asked, until: 'rest', signal });
  async function* lines() {
    let task: A2aTask | undefined;
    // Spaces before the JSON: clients that wait for headers or bytes would time out otherwise.
    yield ' ';
    for await (const page of withPulse(pages, KEEP_ALIVE_MS, signal)) {
      if (page === 'pulse') yield ' ';
      else task = page.task;
    }
    // The stream ended before anything was read: by its age, or because the server closes.
    if (!request.signal.aborted) task ??= await readTask(host.client, asked);
    if (task) yield JSON.stringify(wrap(toAnswer(await signFileUrls(host, request, task))));
  }
  return new Response(toPullStream(lines(), place.leave), {
    headers: { 'content-type': type, ...SAFE_HEADERS },
  });
}

/** Streams the task, then its changes. */
export function streamTask(
  { host, request, wrap }: ResponseContext,
  asked: Omit<ReadTask, 'signal'>,
): Response {
  const place = enterStream(host.streams, asked.thread.id);
  const signal = AbortSignal.any([place.signal, request.signal]);
  const pages = taskPages(host.client, { ...asked, signal });
  async function* frames() {
    yield ': stream-open\n\n';
    for await (const page of withPulse(pages, KEEP_ALIVE_MS, signal)) {
      if (page === 'pulse') yield ': keep-alive\n\n';
      else
        for (const { cursor, frame } of page.frames)
          yield `id: ${cursor}\ndata: ${JSON.stringify(wrap(await signFileUrls(host, request, frame)))}\n\n`;
    }
  }
  return new Response(toPullStream(frames(), place.leave), {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    },
  });
}

/** Replaces paths of files by signed URLs, which need no token for an hour. */
export async function signFileUrls<Told extends A2aFrame | ListedTask>(
  { client }: ApiHost,
  request: Request,
  sent: Told,
): Promise<Told> {
  const files = partsOf(sent).filter(({ url }) => url?.startsWith('/'));
  if (files.length === 0) return sent;
  const address = fileAddresses(client, request, contextOf(sent));
  const copy = structuredClone(sent);
  for (const part of partsOf(copy) as { url?: string }[])
    if (part.url?.startsWith('/')) part.url = await address(part.url);
  return copy;
}

function partsOf(item: A2aFrame | ListedTask): readonly A2aPart[] {
  if ('task' in item) return partsOf(item.task);
  if ('artifactUpdate' in item) return item.artifactUpdate.artifact.parts;
  if ('statusUpdate' in item) return [];
  return [...(item.artifacts ?? []), ...(item.history ?? [])].flatMap(({ parts }) => parts);
}

function contextOf(item: A2aFrame | ListedTask): string {
  if ('task' in item) return item.task.contextId;
  if ('artifactUpdate' in item) return item.artifactUpdate.contextId;
  return 'statusUpdate' in item ? item.statusUpdate.contextId : item.contextId;
}
