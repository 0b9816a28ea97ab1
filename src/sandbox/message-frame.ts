/** Converts messages to frames and back. A message has at most one value, which is sent beside its JSON head. */
import type { Wire } from './codec/wire.ts';
import type { Frame } from './frame.ts';
import type { FromChild, ToChild } from './protocol.ts';

export interface MessageParts {
  readonly head: object;
  readonly wire?: Wire;
}

/** Fields of the head that are undefined are omitted when it is written as JSON. */
export function partToChild(message: ToChild): MessageParts {
  if (message.kind === 'run') {
    const { inputs, ...job } = message.job;
    return { head: { ...message, job }, wire: inputs };
  }
  return message.kind === 'crossing' ? partCrossing(message) : { head: message };
}

export function partFromChild(message: FromChild): MessageParts {
  if (message.kind === 'crossing') return partCrossing(message);
  if (message.kind === 'remark') {
    const { wire, ...remark } = message.remark;
    return { head: { ...message, remark }, wire };
  }
  if (message.kind !== 'settled' || message.settlement.status !== 'success') return { head: message };
  const { wire, ...settlement } = message.settlement;
  return { head: { ...message, settlement }, wire };
}

function partCrossing(message: Extract<ToChild | FromChild, { kind: 'crossing' }>): MessageParts {
  const { wire, ...crossing } = message.crossing;
  return { head: { ...message, crossing }, wire };
}

/** Used only in the child, which trusts its host: the fields are not validated. */
export function joinToChild({ head, wire }: Frame): ToChild {
  const message = head as ToChild;
  if (message.kind === 'run') return { ...message, job: { ...message.job, inputs: wire as Wire } };
  if (message.kind !== 'crossing') return message;
  return { ...message, crossing: { ...message.crossing, wire: wire as Wire } };
}
