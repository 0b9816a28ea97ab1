/**
 * Measures the time between a provider's first token and an HTTP reader that follows the log, beside the log's own
 * write of it: a real worker, the API behind a socket, an SSE stream. The tokens contain the time at which they were
 * handed over.
 */
import { serveApi } from '../../src/cli/serve/serve-api.ts';
import type { Provider, ProviderStreamChunk } from '../../src/core/message/provider.ts';
import { defineAgent, defineModel, definePrompt, registryFrom } from '../../src/definitions/index.ts';
import { createApi } from '../../src/server/api/create-api.ts';
import { type Line, quantile } from './report.ts';
import { openRig } from './rig.ts';

/** Milliseconds between tokens, as of a rather slow model. */
const PACE_MS = 20;
const TOKENS = 10;
const USAGE = { promptTokens: 10, completionTokens: 10, totalTokens: 20 };

export async function measureFirstToken(turns: number): Promise<Line[]> {
  const written: number[] = [];
  const rig = await openRig(
    'file',
    undefined,
    () => streamingProject(),
    'sqlite:store.db',
    ({ modelCalls }) => {
      const append = modelCalls.appendChunk.bind(modelCalls);
      modelCalls.appendChunk = async (chunk) => {
        const begun = performance.now();
        const answer = await append(chunk);
        written.push(performance.now() - begun);
        return answer;
      };
    },
  );
  const served = await serveApi(createApi({ client: rig.client }), { host: '127.0.0.1', port: 0 });
  const first: number[] = [];
  const writes: number[] = [];
  try {
    const { threadId } = await rig.client.startThread({ agent: 'streams', messages: [] });
    for (let turn = -3; turn < turns; turn++) {
      await rig.client.waitForIdle(threadId).catch(() => undefined);
      const { lastSeq } = await rig.client.getThread(threadId);
      const reading = readFirst(
        `${served.url}/v1/threads/${threadId}/events?after=${lastSeq}&types=model.chunk`,
      );
      written.length = 0;
      await rig.client.queueMessage(threadId, { content: 'go' });
      const lag = await reading;
      await rig.client.waitForIdle(threadId);
      // The first turns warm up.
      if (turn < 0) continue;
      first.push(lag);
      writes.push(written[0] ?? 0);
    }
  } finally {
    await served.close();
    await rig.close();
  }
  const added = first.map((lag, n) => lag - (writes[n] ?? 0));
  const note = `n ${first.length}`;
  return [
    {
      what: 'first token: from the provider to a reader over SSE, p50',
      value: quantile(first, 0.5),
      unit: 'ms',
      note,
    },
    { what: "  of it the log's own write, p50", value: quantile(writes, 0.5), unit: 'ms' },
    { what: '  what is added to that, p50', value: quantile(added, 0.5), unit: 'ms', atMost: 10 },
    { what: '  what is added to that, p99', value: quantile(added, 0.99), unit: 'ms' },
  ];
}

/** Returns the milliseconds from the time in the first token until it is read here. */
async function readFirst(url: string): Promise<number> {
  const leaving = new AbortController();
  const response = await fetch(url, { headers: { accept: 'text/event-stream' }, signal: leaving.signal });
  let text = '';
  for await (const part of (response.body as ReadableStream<Uint8Array>).pipeThrough(
    new TextDecoderStream(),
  )) {
    text += part;
    const at = /"delta":"([\d.]+) /.exec(text)?.[1];
    if (at === undefined) continue;
    const lag = performance.now() - Number(at);
    leaving.abort();
    return lag;
  }
  throw new Error('The stream ended before its first token.');
}

function streamingProject() {
  return registryFrom({
    agents: [defineAgent({ name: 'streams', sideA: { prompt: 'ask' } })],
    prompts: [
      definePrompt({ name: 'ask', toolDescription: 'measured', prompt: 'You are measured.', model: 'paced' }),
    ],
    models: [defineModel({ name: 'paced', provider: pacedModel, model: 'paced-1' })],
    tools: {},
  });
}

function pacedModel(): Provider {
  return {
    name: 'paced',
    specificationVersion: '1',
    async generate() {
      throw new Error('Everthread streams where it can.');
    },
    async stream() {
      return tokens();
    },
  };
}

async function* tokens(): AsyncGenerator<ProviderStreamChunk> {
  for (let n = 0; n < TOKENS; n++) {
    yield { type: 'content-delta', delta: `${performance.now()} ` };
    await new Promise((resolve) => setTimeout(resolve, PACE_MS));
  }
  yield { type: 'finish', finishReason: 'stop', usage: USAGE };
}
