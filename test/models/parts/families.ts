/** The three providers whose answers have metadata, each with a strict server and the published packages as its clients. */
import { createAnthropic as anthropic5 } from 'ai-sdk-anthropic-5';
import { createAnthropic as anthropic6 } from 'ai-sdk-anthropic-6';
import { createAnthropic as anthropic7 } from 'ai-sdk-anthropic-7';
import { createGoogleGenerativeAI as google5 } from 'ai-sdk-google-5';
import { createGoogleGenerativeAI as google6 } from 'ai-sdk-google-6';
import { createGoogleGenerativeAI as google7 } from 'ai-sdk-google-7';
import { createOpenAI as openai5 } from 'ai-sdk-openai-5';
import { createOpenAI as openai6 } from 'ai-sdk-openai-6';
import { createOpenAI as openai7 } from 'ai-sdk-openai-7';
import type { ModelDefinition } from '../../../src/core/author/definition.ts';
import { aiSdk } from '../../../src/models/index.ts';
import { defineTestModel } from '../support.ts';
import { type Block, strictAnthropic } from './strict-anthropic.ts';
import { type Part, strictGoogle } from './strict-google.ts';
import { type Item, strictOpenAi } from './strict-openai.ts';
import type { StrictServer } from './strict-server.ts';

export const VERSIONS = [5, 6, 7] as const;
export type Version = (typeof VERSIONS)[number];
export const FAMILIES = ['anthropic', 'openai', 'google'] as const;
export type Family = (typeof FAMILIES)[number];

/** What a model says in one answer. */
export interface Said {
  /** `''`: reasoning that is not shown. */
  readonly thoughts?: readonly string[];
  readonly text?: string;
  /** A search that the provider runs between the thoughts; Anthropic's alone. */
  readonly searches?: string;
  /** The number that the call adds to. */
  readonly calls?: readonly number[];
}

export interface ServedModel {
  readonly model: ModelDefinition;
  readonly server: StrictServer<unknown>;
}

const anthropics = { 5: anthropic5, 6: anthropic6, 7: anthropic7 };
const openais = { 5: openai5, 6: openai6, 7: openai7 };
const googles = { 5: google5, 6: google6, 7: google7 };
const THINKING = { thinking: { type: 'enabled', budgetTokens: 2000 } };

export async function serve(family: Family, version: Version, said: readonly Said[]): Promise<ServedModel> {
  const key = { apiKey: 'k' };
  switch (family) {
    case 'anthropic': {
      const server = await strictAnthropic(said.map(toBlocks));
      const sdk = anthropics[version]({ ...key, baseURL: server.url });
      const provider = aiSdk((id) => sdk(id));
      const model = { model: 'claude-sonnet-4-5', providerOptions: THINKING };
      return { server, model: defineTestModel(family, provider, model) };
    }
    case 'openai': {
      const server = await strictOpenAi(said.map(toItems));
      const sdk = openais[version]({ ...key, baseURL: server.url });
      return {
        server,
        model: defineTestModel(
          family,
          aiSdk((id) => sdk.responses(id)),
          { model: 'gpt-5' },
        ),
      };
    }
    case 'google': {
      const server = await strictGoogle(said.map(toGoogle));
      const sdk = googles[version]({ ...key, baseURL: server.url });
      const model = { model: 'gemini-3-pro-preview' };
      return {
        server,
        model: defineTestModel(
          family,
          aiSdk((id) => sdk(id)),
          model,
        ),
      };
    }
  }
}

const idOf = (family: string, answer: number, index: number) => `${family}_${answer}_${index}`;

function toBlocks({ thoughts = [], searches, text, calls = [] }: Said, answer: number): Block[] {
  return [
    ...thoughts.map(
      (thinking, index): Block =>
        thinking === ''
          ? { type: 'redacted_thinking', data: `hidden ${answer} ${index}` }
          : { type: 'thinking', thinking, signature: `sig ${answer} ${index}` },
    ),
    ...(searches === undefined ? [] : toSearch(searches)),
    ...(text === undefined ? [] : [{ type: 'text', text } as const]),
    ...calls.map(
      (a, index): Block => ({
        type: 'tool_use',
        id: idOf('toolu', answer, index),
        name: 'add',
        input: { a },
      }),
    ),
  ];
}

function toSearch(query: string): Block[] {
  const found = { url: 'https://example.com', title: 'Sums', encrypted_content: 'found', page_age: null };
  return [
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query } },
    {
      type: 'web_search_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: [{ type: 'web_search_result', ...found }],
    },
    { type: 'thinking', thinking: 'Found.', signature: 'sig found' },
  ];
}

/** All thoughts of an answer are one item with several summaries. */
function toItems({ thoughts, text, calls = [] }: Said, answer: number): Item[] {
  const summary = (thoughts ?? [])
    .filter((each) => each !== '')
    .map((each) => ({ type: 'summary_text' as const, text: each }));
  return [
    ...(thoughts === undefined
      ? []
      : [{ type: 'reasoning', id: `rs_${answer}`, encrypted_content: `enc ${answer}`, summary } as const]),
    ...(text === undefined ? [] : [{ type: 'message', id: `msg_${answer}`, text } as const]),
    ...calls.map(
      (a, index): Item => ({
        type: 'function_call',
        id: idOf('fc', answer, index),
        call_id: idOf('call', answer, index),
        name: 'add',
        arguments: JSON.stringify({ a }),
      }),
    ),
  ];
}

/** The first call of an answer has the signature, else its text. */
function toGoogle({ thoughts = [], text, calls = [] }: Said, answer: number): Part[] {
  const thoughtSignature = `sig ${answer}`;
  return [
    ...thoughts.filter((each) => each !== '').map((each) => ({ text: each, thought: true })),
    ...(text === undefined ? [] : [{ text, ...(calls.length === 0 ? { thoughtSignature } : {}) }]),
    ...calls.map((a, index) => ({
      functionCall: { id: idOf('call', answer, index), name: 'add', args: { a } },
      ...(index === 0 ? { thoughtSignature } : {}),
    })),
  ];
}
