// Shows what the server's events bring: TuneReport (package report) draws it.
"use strict";
(() => {
  const tunes = new Map(); // by ID, in brief or in whole
  const status = document.createElement("p");
  status.setAttribute("role", "status");
  status.style.flexBasis = "100%";
  document.querySelector("header").append(status);
  let order = [], stream = null;
  const connect = (ids) => {
    if (stream) stream.close();
    stream = new EventSource("events?" + ids.map((id) => "tune=" + encodeURIComponent(id)).join("&"));
    stream.addEventListener("tunes", (e) => {
      const u = JSON.parse(e.data);
      order = u.order || order;
      for (const t of u.tunes) tunes.set(t.id, t);
      for (const id of tunes.keys()) if (!order.includes(id)) tunes.delete(id);
      status.textContent = "";
      TuneReport.show({ tool: u.tool, time: u.time, tunes: order.map((id) => tunes.get(id)) });
    });
    stream.addEventListener("fault", (e) => { status.textContent = "The store cannot be read: " + JSON.parse(e.data); });
    stream.onerror = () => { status.textContent = stream.readyState === EventSource.CLOSED ? "The server refuses: load this page again." : "The server is away. The page goes on when it is back."; };
  };
  TuneReport.onchoose = connect;
  connect([]);
})();
