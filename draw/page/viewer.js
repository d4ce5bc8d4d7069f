// A viewer for other pages: gofx.show(element, data) shows a graph in an element. data is
// what fxgen draw -o FILE.json has written, as an object or as text.
(root => {
  'use strict';
  const page = {{page}};
  const format = {{format}};
  const escape = s => s.replace(/[&<>"]/g, c => '&#' + c.charCodeAt(0) + ';');

  function show(element, data) {
    const box = typeof element === 'string' ? document.querySelector(element) : element;
    if (!(box instanceof Element)) throw new Error('gofx.show: ' + element + ' is no element of this page');
    const value = typeof data === 'string' ? JSON.parse(data) : data;
    if (!value || value.gofx !== format) throw new Error('gofx.show: expected the data of fxgen draw -o FILE.json, of the fxgen that has written this viewer');
    const text = JSON.stringify(value).replace(/</g, '\\u003c').replace(/\u2028/g, '\\u2028').replace(/\u2029/g, '\\u2029');
    const frame = document.createElement('iframe');
    frame.title = value.title;
    frame.style.cssText = 'border:0;display:block;width:100%;height:100%';
    frame.srcdoc = page[0] + escape(value.title) + page[1] + text + page[2];
    box.replaceChildren(frame);
    return frame;
  }

  root.gofx = Object.assign(root.gofx || {}, { show });
})(globalThis);
