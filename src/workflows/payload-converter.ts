/**
 * How the workflow decodes payloads. Those of handlers come wrapped (letter.ts) and are handed on as they are; results of
 * activities are decoded as usual. Anything else from outside, such as the memo of a start, becomes `undefined` where it cannot
 * be decoded: this workflow does not use it, and a throw would fail the workflow task for ever.
 */
import {
  type ConverterHint,
  defaultPayloadConverter,
  type Payload,
  type PayloadConverter,
  type SerializationContext,
} from '@temporalio/common';
import { unwrap } from './letter.ts';

export const payloadConverter: PayloadConverter = {
  toPayload: (value, context, hint) => defaultPayloadConverter.toPayload(value, context, hint),
  fromPayload<T>(payload: Payload, context?: SerializationContext, hint?: ConverterHint<T>): T {
    const carried = unwrap(payload);
    if (carried) return carried.value as T;
    try {
      return defaultPayloadConverter.fromPayload<T>(payload, context, hint);
    } catch (error) {
      if (context?.type === 'activity') throw error;
      return undefined as T;
    }
  },
};
