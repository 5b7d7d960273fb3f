// Converts messages of the guest to pi's.
import { plainText } from "#sandbox";

/**
 * Removes control characters from a message that the transcript shows: pi may draw it without this extension.
 * @param {import("./interface.js").CustomMessage} message
 */
export function plainMessage({ customType, content, display }) {
  return { customType, content: display ? plainText(content) : content, display };
}

/** @param {import("../target/types/interfaces/pi-extension-api.js").Delivery | undefined} delivery */
export function deliverAs(delivery) {
  switch (delivery) {
    case "steer":
      return "steer";
    case "follow-up":
      return "followUp";
    case "next-turn":
      return "nextTurn";
    default:
      return undefined;
  }
}
