/**
 * How the workflow decodes payloads. Those of handlers arrive wrapped (letter.ts) and are passed on undecoded; results
 * of activities are decoded as usual. Any other payload from outside, such as the memo of a start, becomes `undefined`
 * if it cannot be decoded: this workflow does not use it, and a throw would fail every attempt of the workflow task.
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
