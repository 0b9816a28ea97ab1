/** Converts waits to MCP forms (`elicitation/create`), which are flat and have plain fields, and forms to answers. */
import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import { RuntimeError } from '../../core/value/error.ts';
import { definedFields, isRecord, parseRecord } from '../../core/value/record.ts';
import type { WaitAnswer } from '../../core/wait/answer.ts';
import type { Wait } from '../../store/wait/wait-record.ts';

export type Form = Pick<ElicitRequestFormParams, 'message' | 'requestedSchema'>;

/** Characters of the arguments that are shown with a question. */
const MAX_SHOWN_CHARS = 2000;

/** Undefined if a form must not ask: variables may be secret, and the protocol forbids forms to ask for secrets. */
export function toForm(wait: Pick<Wait, 'kind' | 'summary' | 'data'>): Form | undefined {
  const { kind, summary, data } = wait;
  if (kind === 'variables') return undefined;
  if (kind !== 'question') return { message: withData(summary, data), requestedSchema: SCHEMAS[kind] };
  const requestedSchema = schemaOf(data) ?? SCHEMAS.question;
  return {
    message: requestedSchema === SCHEMAS.question ? withData(summary, data) : summary,
    requestedSchema,
  };
}

type Schema = Form['requestedSchema'];

const REASON = { type: 'string', title: 'Reason' } as const;
const APPROVAL: Schema = {
  type: 'object',
  properties: { approved: { type: 'boolean', title: 'Approve' }, reason: REASON },
  required: ['approved'],
};
/** A form has plain fields only. */
const CHANGED = {
  type: 'string',
  title: 'Changed arguments',
  description: 'JSON, in place of all arguments above; empty to leave them',
} as const;
const SCHEMAS = {
  approval: { ...APPROVAL, properties: { ...APPROVAL.properties, arguments: CHANGED } },
  paused: APPROVAL,
  question: {
    type: 'object',
    properties: { answer: { type: 'string', title: 'Answer' } },
    required: ['answer'],
  } satisfies Schema,
  reconcile: {
    type: 'object',
    properties: {
      completed: { type: 'boolean', title: 'It was done' },
      note: { type: 'string', title: 'Note' },
    },
    required: ['completed'],
  } satisfies Schema,
};

function withData(summary: string, data: unknown): string {
  const shown = isRecord(data) && isRecord(data.arguments) ? JSON.stringify(data.arguments) : '';
  return shown === '' || shown === '{}' ? summary : `${summary}\n${shown.slice(0, MAX_SHOWN_CHARS)}`;
}

/** Returns the `schema` in a question's data, if a form can express it. */
function schemaOf(data: unknown): Schema | undefined {
  const schema = isRecord(data) ? data.schema : undefined;
  if (!isRecord(schema) || schema.type !== 'object' || !isRecord(schema.properties)) return undefined;
  const { properties, required } = schema;
  if (!Object.values(properties).every(isPrimitive)) return undefined;
  const isList = Array.isArray(required) && required.every((name) => typeof name === 'string');
  return { type: 'object', properties, ...(isList ? { required } : {}) } as Schema;
}

const PRIMITIVE_TYPES = new Set(['string', 'number', 'integer', 'boolean']);

function isPrimitive(property: unknown): boolean {
  if (!isRecord(property)) return false;
  if (PRIMITIVE_TYPES.has(String(property.type))) return true;
  const { items } = property;
  return (
    property.type === 'array' && isRecord(items) && (Array.isArray(items.enum) || Array.isArray(items.anyOf))
  );
}

export interface FilledForm {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content: Readonly<Record<string, unknown>>;
}

/** Parses untrusted input. Anything that is not a filled form counts as dismissed. */
export function readFilled(given: unknown): FilledForm {
  if (!isRecord(given)) return { action: 'cancel', content: {} };
  const { action, content } = given;
  if (action === 'decline') return { action, content: {} };
  return action === 'accept'
    ? { action, content: isRecord(content) ? content : {} }
    : { action: 'cancel', content: {} };
}

/**
 * Undefined if the form was dismissed: the wait stays open. Only an explicit `approved: true` approves. Throws
 * `InvalidValue` for changed arguments that are no JSON object.
 */
export function toAnswer(
  wait: Pick<Wait, 'kind' | 'name' | 'data'>,
  { action, content }: FilledForm,
): WaitAnswer | undefined {
  if (action === 'cancel') return undefined;
  const reason = typeof content.reason === 'string' && content.reason !== '' ? content.reason : undefined;
  if (action === 'decline') return { approved: false };
  const approved = content.approved === true;
  switch (wait.kind) {
    case 'approval': {
      const text = typeof content.arguments === 'string' ? content.arguments.trim() : '';
      if (!approved || text === '') return definedFields({ approved, reason });
      const changed = parseRecord(text);
      if (changed) return definedFields({ approved, reason, arguments: changed });
      throw new RuntimeError(
        'InvalidValue',
        `"${wait.name}" was not approved: its changed arguments are not a JSON object. Answer once more.`,
      );
    }
    case 'paused':
      return definedFields({ approved, reason });
    case 'question':
      return { value: schemaOf(wait.data) ? content : (content.answer ?? '') };
    default:
      return { value: content };
  }
}
