/**
 * One end of the channel between host and child: frames over a socket. The first message in a turn of the event loop is
 * written at once; those that follow it in the same turn are written together. The amount read per turn is bounded, so
 * that a flood from one side cannot starve the other side.
 */

import type { Socket } from 'node:net';
import { errorMessage } from '../core/value/thrown.ts';
import type { Wire } from './codec/wire.ts';
import { createFrameReader, encodeFrame, type Frame, type FrameReader } from './frame.ts';

export interface Channel {
  /** Queues the message; it may be written only at the end of the turn, together with others. */
  post(head: object, wire?: Wire): void;
  /** Writes the message at once, after any that were posted before it. */
  send(head: object, wire?: Wire): void;
  /** Stops reading and destroys the socket. */
  close(): void;
}

export interface ChannelEvents {
  onFrame(frame: Frame): void;
  /** Called if the input is not a valid frame, or if `onFrame` threw. Nothing is read afterwards. */
  onFault(why: string): void;
}

const MAX_FRAMES_PER_TURN = 512;
const MAX_BYTES_PER_TURN = 2 * 1024 * 1024;
const RESET_FRAMES = 32;
const RESET_BYTES = 128 * 1024;
/** Bytes. Larger batches are written part by part instead of being copied into one buffer. */
const MAX_JOINED_BYTES = 256 * 1024;

export function openChannel(socket: Socket, events: ChannelEvents, longest?: number): Channel {
  const reading = new ChannelInput(socket, events, longest);
  const batcher = createMessageBatcher<Uint8Array>((parts) => write(socket, parts));
  socket.on('data', (chunk: Uint8Array) => reading.take(chunk));
  // Ignored: the peer has just died, and its end is detected by other means.
  socket.on('error', () => undefined);
  return {
    post: (head, wire) => batcher.post(...encodeFrame(head, wire)),
    send: (head, wire) => batcher.send(...encodeFrame(head, wire)),
    close: () => reading.close(),
  };
}

/** The received input, and how much of it was read in the current turn of the event loop. */
class ChannelInput {
  readonly #socket: Socket;
  readonly #events: ChannelEvents;
  readonly #reader: FrameReader;
  #closed = false;
  #turn = { frames: 0, bytes: 0, ends: false };

  constructor(socket: Socket, events: ChannelEvents, longest?: number) {
    this.#socket = socket;
    this.#events = events;
    this.#reader = createFrameReader(longest);
  }

  take(chunk: Uint8Array): void {
    if (this.#closed) return;
    this.#reader.push(chunk);
    this.#turn.bytes += chunk.byteLength;
    // The counts are reset by a setImmediate, which is scheduled only once they are large; until then they carry over.
    if (this.#turn.frames >= RESET_FRAMES || this.#turn.bytes >= RESET_BYTES) this.#endLater();
    this.#read();
  }

  close(): void {
    this.#closed = true;
    // Otherwise data that the peer is still writing would keep the socket open.
    this.#socket.destroy();
  }

  #read(): void {
    try {
      this.#readFrames();
    } catch (error) {
      this.close();
      this.#events.onFault(errorMessage(error));
      return;
    }
    if (this.#isTurnSpent()) {
      this.#socket.pause();
      this.#endLater();
      return;
    }
    // Resuming a stream that already flows would cost an extra tick each time.
    if (this.#socket.isPaused()) this.#socket.resume();
  }

  #readFrames(): void {
    while (!this.#closed && !this.#isTurnSpent()) {
      const frame = this.#reader.next();
      if (!frame) return;
      this.#turn.frames += 1;
      this.#events.onFrame(frame);
    }
  }

  #isTurnSpent(): boolean {
    return this.#turn.frames >= MAX_FRAMES_PER_TURN || this.#turn.bytes >= MAX_BYTES_PER_TURN;
  }

  #endLater(): void {
    if (!this.#turn.ends) setImmediate(() => this.#endTurn());
    this.#turn.ends = true;
  }

  #endTurn(): void {
    this.#turn = { frames: 0, bytes: 0, ends: false };
    if (!this.#closed) this.#read();
  }
}

function write(socket: Socket, parts: readonly Uint8Array[]): void {
  if (socket.destroyed || !socket.writable) return;
  const size = parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (parts.length === 1) socket.write(parts[0] as Uint8Array);
  else if (size > MAX_JOINED_BYTES) {
    socket.cork();
    for (const part of parts) socket.write(part);
    socket.uncork();
  } else {
    socket.write(Buffer.concat(parts));
  }
}

interface MessageBatcher<Message> {
  post(...messages: Message[]): void;
  /** Writes the messages at once, after any that were posted before them. */
  send(...messages: Message[]): void;
}

/**
 * Batches messages: the first in a turn of the event loop is written at once, and those that follow it in the same
 * turn together. A thousand answers cost little more than one, and a single one is not delayed. Order is kept.
 */
function createMessageBatcher<Message>(write: (batch: readonly Message[]) => void): MessageBatcher<Message> {
  let batch: Message[] = [];
  let gathering = false;
  const flush = () => {
    if (batch.length === 0) return;
    const full = batch;
    batch = [];
    write(full);
  };
  const endOfTurn = () => {
    gathering = false;
    flush();
  };
  return {
    post(...messages) {
      batch.push(...messages);
      if (gathering) return;
      gathering = true;
      flush();
      setImmediate(endOfTurn);
    },
    send(...messages) {
      batch.push(...messages);
      flush();
    },
  };
}
