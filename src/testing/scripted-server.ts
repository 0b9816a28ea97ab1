/**
 * Serves a script as an OpenAI-compatible HTTP server on 127.0.0.1: chat completions, streamed or not, and the list of
 * models. Real sockets, so that tests meet errors, delays and cancellation as with a real provider.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ProviderError, ProviderRequest, ProviderStreamChunk } from '../core/message/provider.ts';
import { createAccumulator } from '../models/accumulate.ts';
import { isProviderError } from '../models/classify.ts';
import { fromChatBody, parseChatBody } from './openai-request-reader.ts';
import { type ChunkWriter, createChunkWriter, toCompletion, toErrorBody } from './openai-response-writer.ts';

/** Times of a connection, in milliseconds since 1970. */
export interface ScriptedConnection {
  readonly openedAt: number;
  /** When the answer was sent in full, or the client's socket closed; null until then. */
  readonly closedAt: number | null;
  /** True once the answer was sent in full; stays false if the client disconnected early. */
  readonly completed: boolean;
}

export interface ScriptedServer {
  /** Base URL for clients; ends with `/v1`. */
  readonly url: string;
  /** Ends the server and every connection, idle or not. */
  close(): Promise<void>;
}

export interface StartedAnswer {
  readonly responseId: string;
  readonly chunks: AsyncIterable<ProviderStreamChunk>;
}

export interface ServedScript {
  /** Consumes a step. */
  readonly start: (request: ProviderRequest) => Promise<StartedAnswer>;
  /** Receives an entry for each request. */
  readonly connections: ScriptedConnection[];
  readonly modelId: string;
  /** 0 for any free port. */
  readonly port: number;
}

export async function serveScript(script: ServedScript): Promise<ScriptedServer> {
  const server = createServer((request, response) => {
    route(script, request, response).catch((error: unknown) => fail(response, error));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(script.port, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Otherwise `close` would wait for keep-alive sockets and hanging steps.
        server.closeAllConnections();
      }),
  };
}

async function route(
  script: ServedScript,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = `${request.method} ${request.url?.split('?')[0]}`;
  if (path === 'POST /v1/chat/completions') return complete(script, request, response);
  if (path === 'GET /v1/models') {
    const model = { id: script.modelId, object: 'model', created: 0, owned_by: 'everthread' };
    return sendJson(response, 200, { object: 'list', data: [model] });
  }
  sendJson(response, 404, {
    error: { message: `The scripted server has no ${path}.`, type: 'not_found_error' },
  });
}

async function complete(
  script: ServedScript,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const signal = watchConnection(script.connections, response);
  const body = parseChatBody(await readText(request));
  const { responseId, chunks } = await script.start({ ...fromChatBody(body), signal });
  if (body.stream === true) return streamAnswer(chunks, createChunkWriter(responseId, body.model), response);
  const accumulator = createAccumulator();
  for await (const chunk of chunks) accumulator.add(chunk);
  sendJson(response, 200, toCompletion(accumulator.response(), body.model));
}

/** Records when a connection opened and closed; the signal aborts if the client disconnects early. */
function watchConnection(connections: ScriptedConnection[], response: ServerResponse): AbortSignal {
  const connection = { openedAt: Date.now(), closedAt: null as number | null, completed: false };
  connections.push(connection);
  const left = new AbortController();
  response.once('close', () => {
    connection.closedAt = Date.now();
    connection.completed = response.writableFinished;
    if (!connection.completed) left.abort();
  });
  return left.signal;
}

async function streamAnswer(
  chunks: AsyncIterable<ProviderStreamChunk>,
  write: ChunkWriter,
  response: ServerResponse,
): Promise<void> {
  for await (const chunk of chunks) {
    // Not sent earlier: a failure before the first chunk becomes an HTTP status.
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of write(chunk)) response.write(`data: ${JSON.stringify(event)}\n\n`);
  }
  response.end('data: [DONE]\n\n');
}

function fail(response: ServerResponse, error: unknown): void {
  if (response.destroyed) return;
  const status = isProviderError(error) ? error.statusCode : 500;
  // An error without a status stands for a broken connection.
  if (response.headersSent || status === undefined) response.destroy();
  else sendJson(response, status, toErrorBody(error), isProviderError(error) ? retryAfterOf(error) : {});
}

function retryAfterOf({ retryAfter }: ProviderError): Record<string, string> {
  if (retryAfter === undefined) return {};
  return Number.isInteger(retryAfter)
    ? { 'retry-after': String(retryAfter) }
    : { 'retry-after-ms': String(retryAfter * 1000) };
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

async function readText(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}
