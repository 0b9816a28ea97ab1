/**
 * What a model is shown of the files that messages name (definitions §15.5): recent images as images, and every file as
 * a line of text with its path, so that tools can be called with it. Pure: the caller reads the images.
 */

import { isImageType } from '../file/mime-type.ts';
import type { AttachmentRef } from '../message/message.ts';
import type { ContentPart } from '../message/provider.ts';
import type { ContextMessage } from './context.ts';

/** A picture, or the reason why it is missing. */
export type Picture =
  | { readonly kind: 'shown'; readonly data: string; readonly mediaType: string }
  | { readonly kind: 'absent'; readonly why: string };

/** By path. */
export type Pictures = ReadonlyMap<string, Picture>;

/**
 * The images of the last `threshold` messages, the newest first, each once. Those of an assistant are not shown: providers
 * take images from users and tools alone.
 */
export function recentImages(messages: readonly ContextMessage[], threshold: number): AttachmentRef[] {
  const recent = threshold > 0 ? messages.slice(-threshold) : [];
  const images = recent
    .toReversed()
    .flatMap((message) => (message.role === 'user' || message.role === 'tool' ? refsOf(message) : []))
    .filter(({ mimeType }) => isImageType(mimeType));
  return [...new Map(images.toReversed().map((image) => [image.path, image])).values()].toReversed();
}

export interface ShownAttachments {
  /** One line per file. */
  readonly lines: readonly string[];
  readonly images: readonly ContentPart[];
}

export function showAttachments(message: ContextMessage, pictures: Pictures): ShownAttachments {
  const seen = message.role === 'user' || message.role === 'tool';
  const shown = refsOf(message).map((ref) => ({ ref, picture: seen ? pictures.get(ref.path) : undefined }));
  return {
    lines: shown.map(({ ref, picture }) => toLine(ref, picture)),
    images: shown.flatMap(({ picture }) =>
      picture?.kind === 'shown'
        ? [{ type: 'image' as const, data: picture.data, mediaType: picture.mediaType }]
        : [],
    ),
  };
}

/** Hooks may have written the references: malformed ones are skipped. */
function refsOf({ attachments }: ContextMessage): AttachmentRef[] {
  if (!Array.isArray(attachments)) return [];
  return (attachments as readonly unknown[]).filter((value): value is AttachmentRef => {
    const { path, name, mimeType } = (value ?? {}) as Partial<AttachmentRef>;
    return typeof path === 'string' && typeof name === 'string' && typeof mimeType === 'string';
  });
}

function toLine(ref: AttachmentRef, picture: Picture | undefined): string {
  const image = isImageType(ref.mimeType);
  const size = image && ref.width && ref.height ? [`${ref.width}x${ref.height}`] : [];
  const facts = image
    ? [ref.name, ...size, ref.path]
    : [ref.name, ref.mimeType, `${ref.size} bytes`, ref.path];
  const why = picture?.kind === 'absent' ? [picture.why] : [];
  // The description replaces content that is not shown.
  const described = ref.description && picture?.kind !== 'shown' ? `: ${ref.description}` : '';
  return oneLine(`[${image ? 'image' : 'file'} ${[...facts, ...why].join(', ')}${described}]`);
}

/** A name is free text; it must not look like the start of another part of the line. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}
