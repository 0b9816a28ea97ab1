/**
 * Responses with a task: one answer once the task has ended or waits, or a stream. `wrap` adds the envelope of the
 * binding, JSON-RPC or REST. A client that disconnects stops nothing.
 */
import type { A2aFrame, A2aPart, A2aTask } from '../../../projections/a2a/a2a-shape.ts';
import type { ApiHost } from '../host.ts';
import { fileAddresses } from '../signed-address.ts';
import { type OpenStream, streamResponse, toSse } from '../stream.ts';
import type { ListedTask } from './task-list.ts';
import { type ReadTask, readTask, type TaskPage, taskPages } from './task-reading.ts';

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
  stream: OpenStream,
  asked: Omit<ReadTask, 'until' | 'signal'>,
  toAnswer: (task: A2aTask) => object,
): Response {
  let task: A2aTask | undefined;
  return streamResponse(stream, {
    type,
    // Spaces before the JSON: clients that wait for headers or bytes would time out otherwise.
    first: ' ',
    keepAlive: () => ' ',
    pages: taskPages(host.client, { ...asked, until: 'rest', signal: stream.signal }),
    toText(page) {
      task = page.task;
      return '';
    },
    async last() {
      if (request.signal.aborted) return '';
      // The stream may end before anything was read: by its age, or because the server closes.
      task ??= await readTask(host.client, asked);
      return JSON.stringify(wrap(toAnswer(await signFileUrls(host, request, task))));
    },
  });
}

/** Streams the task, then its changes. */
export function streamTask(
  { host, request, wrap }: ResponseContext,
  stream: OpenStream,
  asked: Omit<ReadTask, 'signal'>,
): Response {
  const toEvent = async ({ cursor, frame }: TaskPage['frames'][number]) =>
    toSse(wrap(await signFileUrls(host, request, frame)), cursor);
  return streamResponse(stream, {
    pages: taskPages(host.client, { ...asked, signal: stream.signal }),
    toText: async ({ frames }) => (await Promise.all(frames.map(toEvent))).join(''),
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
