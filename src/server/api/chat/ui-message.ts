/** Maps messages of the AI SDK, whose answers have their calls, results and texts of several steps as parts. */
import { z } from '@hono/zod-openapi';
import { toItemId } from '../conversation/conversation.ts';
import type { GivenMessage, GivenPart } from '../conversation/given-message.ts';
import { optionalField, optionalText } from '../schema/optional-field.ts';

const approval = z.looseObject({
  id: z.string(),
  approved: optionalField(z.boolean()),
  reason: optionalText,
});

export const uiPart = z.looseObject({
  type: z.string(),
  text: optionalText,
  url: optionalText,
  mediaType: optionalText,
  filename: optionalText,
  state: optionalText,
  approval: optionalField(approval),
  toolName: optionalText,
  toolCallId: optionalText,
  input: z.unknown().optional(),
  output: z.unknown().optional(),
  errorText: optionalText,
});

export const uiMessage = z.looseObject({
  id: optionalText,
  role: z.enum(['user', 'assistant', 'system']),
  parts: z.array(uiPart),
});

type UiPart = z.infer<typeof uiPart>;

/** An answer becomes a message for each of its steps, followed by the results of the step's calls. */
export function toGivenMessages({ id, role, parts }: z.infer<typeof uiMessage>): readonly GivenMessage[] {
  if (role !== 'assistant')
    return [{ id: id === undefined ? undefined : toItemId(id, 'ui'), role, parts: parts.flatMap(toPart) }];
  return toSteps(parts).flatMap((step): GivenMessage[] => {
    const tools = step.filter(isTool);
    const calls = tools.map((tool) => ({
      id: tool.toolCallId ?? '',
      name: tool.toolName ?? tool.type.replace(/^tool-/, ''),
      arguments: JSON.stringify(tool.input ?? {}),
    }));
    return [{ role, parts: step.flatMap(toPart), calls }, ...tools.flatMap(toResult)];
  });
}

function isTool({ type, toolCallId }: UiPart): boolean {
  return toolCallId !== undefined && (type === 'dynamic-tool' || type.startsWith('tool-'));
}

/** A step ends where the next one starts, or where text follows its calls. */
function toSteps(parts: readonly UiPart[]): readonly (readonly UiPart[])[] {
  const steps: UiPart[][] = [[]];
  for (const part of parts) {
    const step = steps.at(-1) ?? [];
    if (part.type === 'step-start' || (part.type === 'text' && step.some(isTool))) steps.push([part]);
    else step.push(part);
  }
  return steps;
}

function toResult({ toolCallId: callId, output, errorText, state }: UiPart): GivenMessage[] {
  const failed = state === 'output-error';
  if (!failed && output === undefined) return [];
  const text = failed ? (errorText ?? '') : typeof output === 'string' ? output : JSON.stringify(output);
  return [{ role: 'tool', callId, failed, parts: [{ kind: 'text', text }] }];
}

/** Parts that belong to the display alone. */
const SHOWN = /^(step-start|reasoning|data-.*)$/;

function toPart(part: UiPart): GivenPart[] {
  const { type, text = '', url, mediaType: mimeType, filename: name } = part;
  if (type === 'text') return [{ kind: 'text', text }];
  if (isTool(part) || SHOWN.test(type)) return [];
  if (url === undefined) return [{ kind: 'other', type }];
  return [{ kind: 'file', type: mimeType?.startsWith('image/') ? 'image' : type, url, mimeType, name }];
}
