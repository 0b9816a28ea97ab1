/**
 * Reads the tools of a server's list one by one, before the protocol's library does: it refuses the whole list for one that is
 * malformed, and a call for a structured output that its tool declares and did not give, though the call has run.
 */
import { groupBy } from '../../core/value/group-by.ts';
import { measureJson } from '../../core/value/json-measure.ts';
import { isRecord } from '../../core/value/record.ts';
import { mayBeObject } from '../../core/value/schema-arguments.ts';
import { SCHEMA_BOUND } from './limit.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A tool that is not offered, and why: the rest of a sentence about it. */
export interface LeftTool {
  readonly tool: string;
  readonly why: string;
}

export interface ToolList {
  readonly tools: readonly Fields[];
  readonly left: readonly LeftTool[];
  /** Names of the tools that declare a structured output. */
  readonly structured: readonly string[];
}

/** What has no name cannot be meant by anybody, and is dropped. */
export function readToolList(given: readonly unknown[]): ToolList {
  const named = given.filter((tool) => isRecord(tool) && typeof tool.name === 'string') as NamedTool[];
  const names = groupBy(named, ({ name }) => name);
  const reasons = named.map((tool) => ((names.get(tool.name)?.length ?? 0) > 1 ? TWICE : whyLeft(tool)));
  const left = named.flatMap(({ name: tool }, at) => {
    const why = reasons[at];
    return why === undefined ? [] : [{ tool, why }];
  });
  return {
    tools: named.filter((_, at) => reasons[at] === undefined).map(toTool),
    left: [...new Map(left.map((each) => [each.tool, each])).values()],
    structured: named.filter(({ outputSchema }) => isRecord(outputSchema)).map(({ name }) => name),
  };
}

type NamedTool = Fields & { readonly name: string };

export const TWICE = 'it is listed twice';
export const NO_OBJECT = 'its arguments are no object';

function whyLeft({ inputSchema }: NamedTool): string | undefined {
  if (!isRecord(inputSchema)) return 'it has no schema of its arguments';
  if (!measureJson(inputSchema, SCHEMA_BOUND).whole) return 'its schema is too large, or too deep';
  return mayBeObject(inputSchema) ? undefined : NO_OBJECT;
}

/** The fields that are used, in the form that the library accepts. */
function toTool({ name, description, inputSchema, annotations }: NamedTool): Fields {
  const { properties, required, ...schema } = inputSchema as Fields;
  return {
    name,
    ...(typeof description === 'string' ? { description } : {}),
    inputSchema: {
      ...schema,
      type: 'object',
      ...(isRecord(properties) ? { properties } : {}),
      ...(Array.isArray(required) ? { required: required.filter((each) => typeof each === 'string') } : {}),
    },
    ...(isRecord(annotations) ? { annotations: flagsOf(annotations) } : {}),
  };
}

function flagsOf(annotations: Fields): Fields {
  return Object.fromEntries(Object.entries(annotations).filter(([, value]) => typeof value === 'boolean'));
}
