/**
 * Typed answers: the last answer of an execution is JSON that fits the `output` schema of the agent's side.
 * - An answer that does not fit is rejected: it stays in the log, and the model is asked again with the problems. That
 *   is another step, with all that steps are counted and limited by. After `MAX_REPEATS` of them the execution fails.
 * - An answer that calls tools is not the last one, unless it calls the side's stop tool.
 */
import type { ProviderMessage } from '../message/provider.ts';
import { cutMiddle } from '../value/cut-middle.ts';
import { type JsonSchema, mapSubschemas } from '../value/json-schema.ts';
import { isRecord } from '../value/record.ts';
import { findBracketed } from './json-text.ts';

/** How often an execution asks for its answer again. */
export const MAX_REPEATS = 2;
/** Characters of a rejected answer that are kept. */
export const MAX_REJECTED_CHARS = 32_768;
const MAX_PROBLEM_CHARS = 4000;

export interface RejectedAnswer {
  /** The answer, cut if it is long; empty if the model gave none. */
  readonly text: string;
  /** What does not fit, for models and people. */
  readonly problems: string;
  /** How many answers of the execution have been rejected since one was accepted, this one included. */
  readonly count: number;
}

export function toRejected(text: string | null, problems: string, before = 0): RejectedAnswer {
  return {
    text: cutMiddle(text ?? '', MAX_REJECTED_CHARS),
    problems: cutMiddle(problems, MAX_PROBLEM_CHARS),
    count: before + 1,
  };
}

export const isLastRepeat = ({ count }: RejectedAnswer): boolean => count > MAX_REPEATS;

/** Whether the stop rules may take the answer for the last one of its execution. */
export function isFinal(
  calls: readonly string[],
  { stopOnResponse, stopTool }: { readonly stopOnResponse: boolean; readonly stopTool?: string },
): boolean {
  if (calls.length === 0) return stopOnResponse;
  return stopTool !== undefined && calls.includes(stopTool);
}

export interface FoundJson {
  readonly value: unknown;
  /** True if the answer has nothing else. */
  readonly isWhole: boolean;
}

/**
 * Finds the JSON of an answer: the whole text, else its first object, as models put one into a sentence or between
 * fences. Undefined if there is none.
 */
export function findJson(text: string | null): FoundJson | undefined {
  const whole = parse(text ?? '');
  if (whole || text === null) return whole && { ...whole, isWhole: true };
  for (let at = text.indexOf('{'), tries = 0; at >= 0 && tries < MAX_TRIES; tries++) {
    const { end } = findBracketed(text, at);
    const found = end === undefined ? undefined : parse(text.slice(at, end));
    if (found) return { ...found, isWhole: false };
    at = text.indexOf('{', at + 1);
  }
  return undefined;
}

const MAX_TRIES = 8;

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** What the next request shows behind the history: the rejected answer, and what is wrong with it. Not stored. */
export function askAgain({ text, problems }: RejectedAnswer): ProviderMessage[] {
  const said: ProviderMessage[] = text === '' ? [] : [{ role: 'assistant', content: text }];
  const content = `Your answer was not accepted: ${problems}. Answer again, with JSON alone that matches the schema.`;
  return [...said, { role: 'user', content }];
}

/** For models that cannot be bound to a schema. */
export function describeSchema(schema: JsonSchema): string {
  return `When you give your final answer, write JSON alone, without any other text, that matches this JSON schema:\n${JSON.stringify(schema)}`;
}

/** The `response_format` of Chat Completions. */
export interface SchemaFormat {
  readonly type: 'json_schema';
  readonly json_schema: { readonly name: string; readonly schema: JsonSchema; readonly strict: boolean };
}

export function toSchemaFormat(agent: string, schema: JsonSchema): SchemaFormat {
  const name = agent.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'answer';
  return { type: 'json_schema', json_schema: { name, schema, strict: isStrict(schema) } };
}

/** Providers bind a model strictly only if every object is closed and all its properties are required. */
function isStrict(schema: JsonSchema): boolean {
  let strict = isClosed(schema);
  mapSubschemas(schema, (below) => {
    strict &&= isStrict(below);
    return below;
  });
  return strict;
}

function isClosed({ type, properties, required = [], additionalProperties }: JsonSchema): boolean {
  if (!isRecord(properties)) return type !== 'object' || additionalProperties === false;
  const names = required as readonly string[];
  return additionalProperties === false && Object.keys(properties).every((name) => names.includes(name));
}
